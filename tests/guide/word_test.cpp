// Exhaustive over every field of the guide word.
#include "guide/word.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace isotherm::guides {
namespace {

word compose(word address, unsigned count, unsigned inactive, unsigned heap, bool accessed,
             bool lock) {
  return address | word{count} << 48 | word{inactive} << 55 | word{heap} << 60 |
         word{accessed} << 62 | word{lock} << 63;
}

/// Calls `check(w, address, count, inactive, heap, accessed, lock)` for all values of all fields.
template <class Check>
void for_all_words(Check check) {
  const word addresses[] = {0, 16, 0x7fff'ffff'fff0, kAddressMask};
  for (const word address : addresses)
    for (unsigned count = 0; count < 128; ++count)
      for (unsigned inactive = 0; inactive < 32; ++inactive)
        for (unsigned heap = 0; heap < 4; ++heap)
          for (const bool accessed : {false, true})
            for (const bool lock : {false, true})
              check(compose(address, count, inactive, heap, accessed, lock), address, count,
                    inactive, heap, accessed, lock);
}

TEST(GuideWord, FieldsReadBackExhaustively) {
  for_all_words([](word w, word address, unsigned count, unsigned inactive, unsigned heap,
                   bool accessed, bool lock) {
    ASSERT_EQ(address_of(w), address);
    ASSERT_EQ(count_of(w), count);
    ASSERT_EQ(inactive_of(w), inactive);
    ASSERT_EQ(static_cast<unsigned>(heap_of(w)), heap);
    ASSERT_EQ(is_accessed(w), accessed);
    ASSERT_EQ(is_locked(w), lock);
    ASSERT_EQ(is_null(w), address == 0);
    ASSERT_EQ(needs_no_mark(w), accessed && !lock);
    ASSERT_EQ(reads_directly(w), accessed && !lock && heap < 2);
  });
}

TEST(GuideWord, ASizeClassHoldsObjectsUpToItsSizeAndLiesBesideTheAddress) {
  for (const std::size_t bytes : {0UL, 1UL, 16UL, 17UL, 32UL, 33UL, 1024UL, 1025UL, 4096UL, 4097UL,
                                  262'144UL, 262'145UL, 524'288UL, 524'289UL, 1UL << 32U}) {
    const word w = make_word(0x3000, heap::kind::hot, bytes);
    EXPECT_EQ(address_of(w), 0x3000u);
    EXPECT_EQ(heap_of(w), heap::kind::hot);
    const unsigned c = size_class_of(w);
    EXPECT_TRUE(size_of_class(c) >= bytes || c == 15) << bytes;
    EXPECT_TRUE(c == 0 || size_of_class(c - 1) < bytes) << bytes;
    EXPECT_EQ(size_class_of(moved_to(w, 0x5000, heap::kind::cold)), c);
    EXPECT_EQ(size_class_of(make_word(0x3000, heap::kind::hot, size_of_class(c))), c);
  }
}

TEST(GuideWord, MarkingVetoesACopyAndKeepsTheRest) {
  for_all_words(
      [](word w, word address, unsigned count, unsigned inactive, unsigned heap, bool, bool) {
        ASSERT_EQ(marked(w), compose(address, count, inactive, heap, true, false));
      });
}

TEST(GuideWord, CountingSaturatesAndStays) {
  for_all_words([](word w, word address, unsigned count, unsigned inactive, unsigned heap,
                   bool accessed, bool lock) {
    const unsigned more = count == 127 ? 127 : count + 1;
    ASSERT_EQ(counted(w), compose(address, more, inactive, heap, true, false));
    const unsigned less = count == 0 ? 0 : count == 127 ? 127 : count - 1;
    ASSERT_EQ(uncounted(w), compose(address, less, inactive, heap, accessed, lock));
  });
}

TEST(GuideWord, CountUpThenDownDuringACopyDoesNotRestoreTheWord) {
  // Pitfall 2: a locked word that was counted and uncounted must differ from what the collector
  // expects, or it would commit over a lost write.
  for (const bool accessed : {false, true}) {
    const word copying = locked(compose(0x1000, 0, 3, 1, accessed, false));
    EXPECT_NE(uncounted(counted(copying)), copying);
  }
}

TEST(GuideWord, WindowsAgeAndRest) {
  for_all_words([](word w, word address, unsigned count, unsigned inactive, unsigned heap,
                   bool accessed, bool lock) {
    ASSERT_EQ(aged(w),
              compose(address, count, inactive == 31 ? 31 : inactive + 1, heap, accessed, lock));
    ASSERT_EQ(rested(w), compose(address, count, 0, heap, false, lock));
  });
}

TEST(GuideWord, ASuccessorInheritsOnlyTheCounts) {
  for_all_words([](word w, word, unsigned count, unsigned, unsigned, bool, bool) {
    const word next = compose(0x2000, 0, 0, 1, true, false);
    ASSERT_EQ(succeeded_by(w, next), compose(0x2000, count, 0, 1, true, false));
  });
}

TEST(GuideWord, AMovedWordKeepsItsAccessAndItsHistory) {
  for_all_words([](word w, word, unsigned count, unsigned inactive, unsigned, bool accessed, bool) {
    ASSERT_EQ(moved_to(w, 0x3000, heap::kind::cold),
              compose(0x3000, count, inactive, 2, accessed, false));
  });
}

TEST(GuideWord, AHistoryIsTheTwelveBitsOfBothCounts) {
  for_all_words([](word w, word address, unsigned count, unsigned inactive, unsigned heap,
                   bool accessed, bool lock) {
    ASSERT_EQ(history_of(w), inactive << 7 | count);
    ASSERT_EQ(with_history(w, 0x5a5),
              compose(address, 0x5a5 & 127, 0x5a5 >> 7, heap, accessed, lock));
    const word next = compose(0x2000, 0, 0, 1, true, false);
    ASSERT_EQ(heir_of(w, next), compose(0x2000, count, inactive, 1, true, false));
    ASSERT_EQ(heir_of(w, kVacant), kVacant);
  });
}

// The old slot of a relocated object: all that its readers use of the word stays.
TEST(GuideWord, ALeftWordKeepsItsAddressAndIsInNoHeapOfObjects) {
  for_all_words([](word w, word address, unsigned count, unsigned inactive, unsigned heap,
                   bool accessed, bool lock) {
    ASSERT_EQ(has_left(w), address != 0 && heap == 3);
    const word after = left(w);
    if (address == 0) {
      ASSERT_EQ(after, w);
      ASSERT_FALSE(has_left(after));
      return;
    }
    ASSERT_EQ(after, compose(address, count, inactive, 3, accessed, lock));
    ASSERT_TRUE(has_left(after));
    ASSERT_TRUE(has_left(marked(after)) && has_left(counted(after)) && has_left(unlocked(after)));
    ASSERT_EQ(left(after), after);
    ASSERT_FALSE(reads_directly(after)) << "it may lie in COLD";
    ASSERT_EQ(needs_no_mark(after), needs_no_mark(w));
  });
  const word sized = make_word(0x3000, heap::kind::hot, 1000);
  EXPECT_EQ(size_class_of(left(sized)), size_class_of(sized));
  EXPECT_FALSE(has_left(kVacant));
  EXPECT_EQ(left(kVacant), kVacant);
}

TEST(GuideWord, VacantIsNullButNotZero) {
  EXPECT_TRUE(is_null(kVacant));
  EXPECT_NE(kVacant, 0u);
  EXPECT_FALSE(heap::holds_objects(heap_of(kVacant)));
  EXPECT_TRUE(is_null(succeeded_by(compose(0x1000, 5, 1, 2, true, true), kVacant)));
}

}  // namespace
}  // namespace isotherm::guides
