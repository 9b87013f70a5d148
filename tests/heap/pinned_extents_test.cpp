// Extents of COLD that are pinned for reads, and which of their pages are out. COLD is anonymous
// memory here: the test itself says what is out.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "heap/anonymous_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/object.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {
namespace {

[[maybe_unused]] const auto* const cold_is_anonymous = testing_help::with_anonymous_cold();

constexpr std::size_t kObjectBytes = 2000;

cold_extents& cold() { return heaps().cold(); }
const extent_table& extents() { return heaps().packed(kind::cold).extents(); }
std::size_t extent_of(const void* object) { return extents().index_of(object); }
std::uint64_t held_bytes() { return usage_of(kind::cold, residency::left_out).extent_bytes; }

struct extent_objects {
  std::size_t number = 0;
  std::vector<void*> objects;
};
/// Fills so many extents of which it has all objects, and begins another one: in this order.
std::vector<extent_objects> fill(std::size_t extents, std::size_t bytes = kObjectBytes) {
  std::vector<void*> opened;  // in the extent that was open
  std::vector<extent_objects> filled;
  while (filled.size() <= extents) {
    void* const object = allocate(kind::cold, bytes);
    const std::size_t number = extent_of(object);
    if (opened.empty() || number == extent_of(opened.front())) {
      opened.push_back(object);
      continue;
    }
    if (filled.empty() || filled.back().number != number) filled.push_back({number, {}});
    filled.back().objects.push_back(object);
  }
  for (void* each : opened) deallocate(each);
  return filled;
}
void free_all(std::vector<void*>& objects) {
  for (void* each : objects) deallocate(each);
  objects.clear();
}
void free_all(std::vector<extent_objects>& filled) {
  for (extent_objects& each : filled) free_all(each.objects);
}
bool has(const std::vector<extent_objects>& filled, std::size_t number) {
  return std::ranges::any_of(filled, [=](const auto& each) { return each.number == number; });
}

TEST(PinnedExtent, IsGivenBackWhenItIsUnpinnedAndNotBefore) {
  auto filled = fill(2);
  const std::size_t pinned = filled[1].number;
  const void* const object = filled[1].objects[77];
  cold().pin_extent(object);
  const std::uint64_t held = held_bytes();
  free_all(filled[1].objects);
  EXPECT_EQ(held_bytes(), held);
  EXPECT_TRUE(is_valid());
  auto others = fill(4);
  EXPECT_FALSE(has(others, pinned)) << "its addresses mean other objects now";
  void* const run = allocate(kind::cold, 2 * kExtentBytes);
  EXPECT_NE(extent_of(run), pinned);
  deallocate(run);
  const std::uint64_t before = held_bytes();
  cold().unpin_extent(object);
  EXPECT_EQ(held_bytes(), before - kExtentBytes);
  EXPECT_TRUE(is_valid());
  auto again = fill(2);
  EXPECT_TRUE(has(again, pinned)) << "a low free one";
  free_all(again);
  free_all(others);
  free_all(filled);
  EXPECT_TRUE(is_valid());
}

TEST(PinnedExtent, WhoeverIsLastGivesItBack) {
  auto filled = fill(2);
  const void *const one = filled[0].objects.front(), *const other = filled[0].objects.back();
  const std::uint64_t held = held_bytes();
  cold().pin_extent(one);
  cold().pin_extent(other);
  cold().unpin_extent(one);
  free_all(filled[0].objects);
  EXPECT_EQ(held_bytes(), held) << "two pinned it";
  cold().unpin_extent(other);
  EXPECT_EQ(held_bytes(), held - kExtentBytes);
  // The other order: the last free.
  cold().pin_extent(filled[1].objects.front());
  cold().unpin_extent(filled[1].objects.front());
  EXPECT_EQ(held_bytes(), held - kExtentBytes);
  free_all(filled[1].objects);
  EXPECT_EQ(held_bytes(), held - 2 * kExtentBytes);
  free_all(filled);
  EXPECT_TRUE(is_valid());
}

TEST(PinnedExtent, ThatIsOpenGoesWhenItIsClosedEmptyAndUnpinned) {
  for (const bool is_unpinned_first : {true, false}) {
    auto filled = fill(1);  // the last one is open
    const std::size_t number = filled.back().number;
    const void* const object = filled.back().objects.front();
    cold().pin_extent(object);
    free_all(filled.back().objects);
    if (is_unpinned_first) cold().unpin_extent(object);
    auto others = fill(1);
    const bool is_there = !extents().row(number).load().empty_for_good();
    EXPECT_EQ(is_there, !is_unpinned_first);
    if (!is_unpinned_first) {
      const std::uint64_t held = held_bytes();
      cold().unpin_extent(object);
      EXPECT_EQ(held_bytes(), held - kExtentBytes);
    }
    free_all(others);
    free_all(filled);
    EXPECT_TRUE(is_valid());
  }
}

TEST(PinnedExtent, OfAnObjectOfManyPinsThemAll) {
  const std::size_t bytes = 3 * kExtentBytes;
  const std::uint64_t held = held_bytes();
  void* const object = allocate(kind::cold, bytes);
  cold().pin_extent(object);
  deallocate(object);
  EXPECT_EQ(held_bytes(), held + 4 * kExtentBytes);
  EXPECT_TRUE(is_valid());
  void* const other = allocate(kind::cold, bytes);
  EXPECT_NE(other, object);
  cold().unpin_extent(object);
  EXPECT_EQ(held_bytes(), held + 4 * kExtentBytes) << "the other one's";
  EXPECT_TRUE(is_valid());
  void* const third = allocate(kind::cold, bytes);
  EXPECT_EQ(third, object);
  deallocate(third);
  // Unpinned before it is freed.
  cold().pin_extent(other);
  cold().unpin_extent(other);
  deallocate(other);
  EXPECT_EQ(held_bytes(), held);
  EXPECT_TRUE(is_valid());
}

/// Frees the objects of `own`, which no other thread uses, and meanwhile pins their extents and
/// unpins them in random order.
void free_and_unpin(const std::vector<void*>& own, base::random& random) {
  std::vector<const void*> pinned;
  for (void* each : own) {
    for (std::size_t i = random.below(3); i > 0; --i) {
      cold().pin_extent(each);
      pinned.push_back(each);
    }
    deallocate(each);
    while (!pinned.empty() && random.below(3) != 0) {
      std::swap(pinned[random.below(pinned.size())], pinned.back());
      cold().unpin_extent(pinned.back());
      pinned.pop_back();
    }
  }
  for (const void* each : pinned) cold().unpin_extent(each);
}

// Were it given back twice, it would hold two objects at one address; were it not, it would be
// lost.
TEST(PinnedExtent, StressIsGivenBackExactlyOnce) {
  constexpr unsigned kThreads = 4;
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t held = held_bytes();
    std::vector<std::vector<void*>> own(kThreads);
    for (const auto& [number, inside] : fill(2)) {
      for (std::size_t i = 0; i < inside.size(); ++i) own[i % kThreads].push_back(inside[i]);
    }
    for (auto& each : own) each.push_back(allocate(kind::cold, kExtentBytes * 3 / 2));
    std::barrier ready(kThreads);
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&ready, &mine = own[t], seed, round, t] {
        base::random random(seed * 1000 + static_cast<unsigned>(round) * kThreads + t);
        ready.arrive_and_wait();
        free_and_unpin(mine, random);
      });
    }
    threads.clear();
    ASSERT_TRUE(is_valid()) << "round " << round;
    ASSERT_LE(held_bytes(), held + kExtentBytes) << "but for the open one";
  }
}

/// Calls both at the same time, in two threads, for each of `rounds`; `prepare` before.
template <class Prepare, class One, class Other>
void race(int rounds, Prepare prepare, One one, Other other) {
  std::atomic<int> ready{0}, done{0};
  const auto take_turn = [&ready](int round) {
    ++ready;
    // Spins, so that both go on at once, unless the other one has no processor.
    for (int spins = 0; ready < 2 * (round + 1); ++spins) {
      if (spins > 10'000) std::this_thread::yield();
    }
  };
  std::jthread second([&] {
    for (int round = 0; round < rounds; ++round) {
      take_turn(round);
      other();
      done = round + 1;
    }
  });
  for (int round = 0; round < rounds; ++round) {
    prepare();
    take_turn(round);
    one();
    while (done != round + 1) std::this_thread::yield();
  }
}

TEST(PinnedExtent, StressTheLastFreeAndTheLastUnpinMeet) {
  for (const std::size_t bytes : {300'000UL, kExtentBytes * 3 / 2}) {
    const bool is_run = bytes > kExtentBytes;
    void* object = nullptr;
    std::uint64_t held = 0;
    int wrong = 0, rounds = 0;
    std::vector<extent_objects> filled;
    const auto prepare = [&] {
      if (rounds++ > 0) wrong += held_bytes() != held;
      free_all(filled);
      if (is_run) {
        object = allocate(kind::cold, bytes);
      } else {
        filled = fill(1, bytes);
        auto& inside = filled[0].objects;
        object = inside.back();
        inside.pop_back();
        free_all(inside);
      }
      held = held_bytes() - (is_run ? 2 : 1) * kExtentBytes;
      cold().pin_extent(object);
    };
    race(1000, prepare, [&] { deallocate(object); }, [&] { cold().unpin_extent(object); });
    free_all(filled);
    EXPECT_EQ(wrong, 0) << "given back twice, or never";
    EXPECT_TRUE(is_valid());
  }
}

TEST(PagesOut, AreABitEach) {
  static pages_out pages;
  for (std::size_t i = 0; i < pages_out::kPages; ++i) ASSERT_FALSE(pages.is_out(i));
  pages.mark_all_out();
  for (std::size_t i = 0; i < pages_out::kPages; ++i) ASSERT_TRUE(pages.is_out(i));
  for (std::size_t in = 0; in < pages_out::kPages; ++in) {
    pages.mark_in(in);
    for (std::size_t i = 0; i < pages_out::kPages; ++i) ASSERT_EQ(pages.is_out(i), i > in);
  }
  pages.mark_all_out();
  pages.mark_all_in();
  for (std::size_t i = 0; i < pages_out::kPages; ++i) ASSERT_FALSE(pages.is_out(i));
}

TEST(PagesOut, OneOfSomeIsFound) {
  static pages_out pages;
  for (std::size_t out = 0; out < pages_out::kPages; ++out) {
    pages.mark_out(out);
    for (std::size_t first = 0; first < pages_out::kPages; first += 3) {
      for (std::size_t last = first; last < pages_out::kPages; last += 7) {
        ASSERT_EQ(pages.is_any_out(first, last), first <= out && out <= last)
            << out << " of " << first << " to " << last;
      }
    }
    pages.mark_in(out);
  }
}

TEST(PagesOut, OnlyObjectsOfColdAreOut) {
  const int on_the_stack = 0;
  EXPECT_FALSE(is_out(&on_the_stack));
  EXPECT_FALSE(is_out(nullptr));
  for (const kind where : {kind::newborn, kind::hot, kind::cold}) {
    void* const object = allocate(where, kObjectBytes);
    EXPECT_FALSE(is_out(object));
    deallocate(object);
  }
}

TEST(PagesOut, AUseBringsInThePagesOfItsObjectAlone) {
  auto filled = fill(2);
  const auto& [number, inside] = filled[0];
  const auto place = [](const void* object) { return cold().place_of(object); };
  cold().mark_out(number, 1);
  for (void* each : inside) ASSERT_TRUE(is_out(each));
  for (void* each : filled[1].objects) ASSERT_FALSE(is_out(each));
  void* const used = inside[inside.size() / 2];
  note_cold_use(used);
  EXPECT_FALSE(is_out(used));
  const base::page_span came = place(used);
  for (void* each : inside) {
    const base::page_span span = place(each);
    const bool is_within =
        span.offset >= came.offset && span.offset + span.bytes <= came.offset + came.bytes;
    ASSERT_EQ(is_out(each), !is_within);
  }
  free_all(filled);
}

// An object is read as a whole, or not at all.
TEST(PagesOut, AnObjectIsOutWhenItsFirstOrItsLastPageIs) {
  void* const object = allocate(kind::cold, 3 * kExtentBytes);
  const base::page_span all = cold().place_of(object);
  const auto out_but_for = [&](const base::page_span& in) {
    cold().mark_out(extent_of(object), 4);
    cold().mark_in(in);
    return is_out(object);
  };
  EXPECT_EQ(all.offset, extent_of(object) * kExtentBytes);
  EXPECT_EQ(all.bytes, 3 * kExtentBytes + base::kPageBytes);
  EXPECT_TRUE(out_but_for({all.offset, 0}));
  EXPECT_TRUE(out_but_for({all.offset, all.bytes - base::kPageBytes}));
  EXPECT_TRUE(out_but_for({all.offset + base::kPageBytes, all.bytes - base::kPageBytes}));
  EXPECT_FALSE(out_but_for(all));
  cold().mark_out(extent_of(object), 4);
  note_cold_use(object);
  EXPECT_FALSE(is_out(object));
  deallocate(object);
}

TEST(PagesOut, AnExtentThatIsOpenedAnewIsIn) {
  auto filled = fill(2);
  const std::size_t number = filled[0].number;
  cold().mark_out(number, 1);
  free_all(filled[0].objects);
  auto again = fill(2);
  ASSERT_TRUE(has(again, number));
  for (const auto& each : again) {
    for (void* object : each.objects) ASSERT_FALSE(is_out(object));
  }
  free_all(again);
  free_all(filled);
}

TEST(PagesOut, ARunThatIsMadeAnewIsIn) {
  void* const object = allocate(kind::cold, 3 * kExtentBytes);
  cold().mark_out(extent_of(object), 4);
  deallocate(object);
  void* const again = allocate(kind::cold, 3 * kExtentBytes);
  ASSERT_EQ(again, object);
  EXPECT_FALSE(is_out(again));
  deallocate(again);
}

TEST(PinnedExtentDeathTest, MoreMissesThanTheWordCountsEndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  void* const object = allocate(kind::cold, 100);
  const auto pin_too_often = [object] {
    for (std::uint64_t i = 0; i <= extent_word::kMostReaders; ++i) cold().pin_extent(object);
  };
  EXPECT_DEATH(pin_too_often(), "misses of one MiB of COLD are kept");
  deallocate(object);
}

TEST(PlaceOf, IsTheWholePagesThatAnObjectTakesWithItsHeader) {
  auto filled = fill(1);
  std::set<std::uint64_t> pages;
  for (const auto& [number, inside] : filled) {
    for (void* each : inside) {
      const auto begin =
          static_cast<std::uint64_t>(static_cast<std::byte*>(each) - extents().begin());
      const base::page_span place = cold().place_of(each);
      ASSERT_EQ(place.offset, (begin - kHeaderBytes) / base::kPageBytes * base::kPageBytes);
      ASSERT_EQ(place.bytes % base::kPageBytes, 0u);
      ASSERT_GE(place.offset + place.bytes, begin + kObjectBytes);
      ASSERT_LT(place.offset + place.bytes, begin + room_of(each) + base::kPageBytes);
      pages.insert(place.bytes / base::kPageBytes);
    }
  }
  EXPECT_EQ(pages, (std::set<std::uint64_t>{1, 2})) << "some lie across a page's end";
  free_all(filled);
}

}  // namespace
}  // namespace isotherm::heap
