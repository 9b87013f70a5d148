// Which objects come back when they have been read for a use: the gate with numbers, and what the
// policies write into it.
#include "collector/memory/return_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "collector/policy/policy.hpp"
#include "collector/policy/worth.hpp"
#include "guide/word.hpp"

namespace isotherm::collector {
namespace {

/// An object that is let in comes back at once.
std::optional<unsigned> admit(return_gate& gate, guides::word w, std::size_t bytes,
                              heap::used_before before) {
  const auto history = gate.admit(w, bytes, before);
  if (history) gate.note_returned(bytes);
  return history;
}
std::optional<unsigned> admit_first(return_gate& gate, guides::word w, std::size_t bytes) {
  return admit(gate, w, bytes, heap::used_before::no);
}

using guides::word;
using heap::kind;

constexpr unsigned kClasses = 1U << guides::kSizeBits;
constexpr unsigned kHistories = 1U << guides::kHistoryBits;

/// The word of an object in COLD.
word cold_word(unsigned history, unsigned size_class, word address = 0x5000) {
  return guides::with_history(
      guides::make_word(address, kind::cold, guides::size_of_class(size_class)), history);
}

/// Rules with `answer_of(history)` for each history.
template <class Answer>
return_gate::rules rules_of(Answer answer_of, const return_gate::draw& ties = {}) {
  return_gate::rules all{.ties = ties};
  for (unsigned history = 0; history < all.answers.size(); ++history) {
    all.answers[history] = answer_of(history);
  }
  return all;
}

/// One answer for all histories.
void write(return_gate& gate, const return_gate::answer& all, const return_gate::draw& ties = {}) {
  gate.write(rules_of([&all](unsigned) { return all; }, ties));
}

TEST(ReturnGate, AdmitsNothingUntilItIsWritten) {
  return_gate gate;
  gate.allow(return_gate::kUnlimited);
  for (unsigned c = 0; c < kClasses; ++c) {
    for (unsigned history = 0; history < kHistories; ++history) {
      ASSERT_FALSE(admit_first(gate, cold_word(history, c), 16)) << c;
    }
  }
}

TEST(ReturnGate, AnswersByHistoryAndSizeClass) {
  return_gate gate;
  gate.allow(return_gate::kUnlimited);
  const auto below = [](unsigned history) { return history % (kClasses + 1); };
  gate.write(rules_of([&](unsigned history) {
    return return_gate::answer{.history = static_cast<std::uint16_t>(kHistories - 1 - history),
                               .below = static_cast<std::uint8_t>(below(history))};
  }));
  for (unsigned history = 0; history < kHistories; ++history) {
    for (unsigned c = 0; c < kClasses; ++c) {
      const auto answer = admit_first(gate, cold_word(history, c), 100);
      ASSERT_EQ(answer.has_value(), c < below(history)) << history << " " << c;
      if (answer) ASSERT_EQ(*answer, kHistories - 1 - history);
    }
  }
}

TEST(ReturnGate, TheDrawSaysWhichOfTheOthersComeBack) {
  return_gate gate;
  gate.allow(return_gate::kUnlimited);
  const return_gate::draw ties{.seed = 4711, .most = ~std::uint64_t{0} / 4};
  write(gate, {.history = 5, .below = 3, .drawn = 6}, ties);
  unsigned drawn = 0;
  for (word i = 1; i <= 4000; ++i) {
    const word address = i * heap::kTogetherBytes;
    const bool wins = base::mix64(i ^ ties.seed) <= ties.most;
    ASSERT_TRUE(admit_first(gate, cold_word(9, 2, address), 1));
    for (const unsigned c : {3U, 5U}) {
      ASSERT_EQ(admit_first(gate, cold_word(9, c, address), 1).has_value(), wins);
    }
    ASSERT_FALSE(admit_first(gate, cold_word(9, 6, address), 1));
    // All objects of an extent have one draw.
    ASSERT_EQ(admit_first(gate, cold_word(9, 5, address + 4096), 1).has_value(), wins);
    drawn += wins;
  }
  EXPECT_NEAR(drawn, 1000, 120);
  write(gate, {.history = 5, .below = 3, .drawn = kClasses},
        {.seed = 1, .most = ~std::uint64_t{0}});
  EXPECT_TRUE(admit_first(gate, cold_word(9, kClasses - 1), 1));
}

TEST(ReturnGate, WhatHasNoRoomWaits) {
  return_gate gate;
  write(gate, {.below = return_gate::kAllClasses});
  EXPECT_FALSE(admit_first(gate, cold_word(0, 3), 1)) << "nobody has allowed any";
  gate.allow(1000);
  EXPECT_TRUE(admit_first(gate, cold_word(0, 3), 600));
  EXPECT_FALSE(admit_first(gate, cold_word(0, 3), 600));
  EXPECT_TRUE(admit_first(gate, cold_word(0, 3), 400));
  EXPECT_FALSE(admit_first(gate, cold_word(0, 3), 1));
  gate.allow(50);
  EXPECT_TRUE(admit_first(gate, cold_word(0, 3), 50)) << "the room is what was said last";
  EXPECT_FALSE(admit_first(gate, cold_word(0, 3), 1));
  gate.allow(return_gate::kUnlimited);
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(admit_first(gate, cold_word(0, 3), std::size_t{1} << 62));
  gate.allow(0);
  EXPECT_FALSE(admit_first(gate, cold_word(0, 3), 1));
}

TEST(ReturnGate, CountsWhatItAdmitsUntilTheCountIsTaken) {
  return_gate gate;
  write(gate, {.below = 4});
  gate.allow(1000);
  admit_first(gate, cold_word(0, 3), 600);
  admit_first(gate, cold_word(0, 4), 10);   // not of such a class
  admit_first(gate, cold_word(0, 3), 500);  // no room
  admit_first(gate, cold_word(0, 3), 30);
  const returned first = gate.take_returned();
  EXPECT_EQ(first.objects, 2u);
  EXPECT_EQ(first.bytes, 630u);
  const returned second = gate.take_returned();
  EXPECT_EQ(second.objects, 0u);
  EXPECT_EQ(second.bytes, 0u);
}

TEST(ReturnGate, ThreadsExceedTheRoomByAnObjectEachAtMost) {
  constexpr std::uint64_t kThreads = 4, kRoom = 100'000, kBytes = 10;
  return_gate gate;
  write(gate, {.below = return_gate::kAllClasses});
  gate.allow(kRoom);
  std::atomic<std::uint64_t> admitted{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        while (admit_first(gate, cold_word(0, 3), kBytes)) ++admitted;
      });
    }
  }
  EXPECT_GE(admitted * kBytes, kRoom);
  EXPECT_LE(admitted * kBytes, kRoom + kThreads * kBytes);
  EXPECT_EQ(gate.take_returned().objects, admitted);
}

TEST(ReturnGate, WhatIsUsedASecondTimeComesBackWhileThereIsRoom) {
  return_gate gate;
  gate.write(rules_of([](unsigned history) {
    return return_gate::answer{.history = static_cast<std::uint16_t>(history + 1)};
  }));
  gate.allow(1000);
  EXPECT_FALSE(admit_first(gate, cold_word(7, 3), 600)) << "it is not worth its room";
  EXPECT_EQ(admit(gate, cold_word(7, 3), 600, heap::used_before::yes), 8u);
  EXPECT_FALSE(admit(gate, cold_word(7, 3), 600, heap::used_before::yes));
  EXPECT_EQ(gate.asked(), 3u);
}

TEST(ReturnGate, WhatMustComeBackTakesRoomFromTheOthers) {
  return_gate gate;
  write(gate, {.below = return_gate::kAllClasses});
  gate.allow(1000);
  gate.note_returned(600);
  gate.note_returned(600);
  EXPECT_FALSE(admit_first(gate, cold_word(0, 3), 1));
  EXPECT_EQ(gate.take_returned().bytes, 1200u);
  gate.allow(return_gate::kUnlimited);
  gate.note_returned(600);
  EXPECT_TRUE(admit_first(gate, cold_word(0, 3), 1 << 30));
}

TEST(ReturnGate, WhatIsLetInAndDoesNotComeBackTakesNone) {
  return_gate gate;
  write(gate, {.below = return_gate::kAllClasses});
  gate.allow(1000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(gate.admit(cold_word(0, 3), 600, heap::used_before::no));
  }
  EXPECT_EQ(gate.take_returned().objects, 0u);
}

TEST(PublishedPolicy, LetsAllComeBackWithTheirHistory) {
  return_gate gate;
  gate.write(make_policy(policy_name::published)->returns());
  gate.allow(return_gate::kUnlimited);
  for (unsigned history = 0; history < kHistories; ++history) {
    for (unsigned c = 0; c < kClasses; ++c)
      ASSERT_EQ(admit_first(gate, cold_word(history, c), 1), history);
  }
}

/// The policy's answers when it is asked, and those written down for threads that cannot ask.
class BudgetReturns : public testing::Test {
 protected:
  static constexpr unsigned kObjects = 1000;

  /// Ends a window in which `used` of the objects were, of which some were in COLD.
  void end_window(std::uint64_t used, std::uint64_t in_cold, std::uint64_t bytes, double room) {
    window_statistics seen;
    seen.window_seconds = 10;
    seen.accessed_objects = used;
    seen.accessed_cold_objects = in_cold;
    const bool is_cold = in_cold > 0;
    policy_->weigh(chosen_,
                   {.target_bytes = static_cast<std::uint64_t>(room * 16 / 15),
                    .dram_bytes = bytes,
                    .warm_bytes = is_cold ? 0 : bytes,
                    .warm_object_bytes = is_cold ? 0 : bytes,
                    .cold_objects = is_cold ? kObjects : 0,
                    .spread = 1},
                   seen);
  }
  /// Objects of COLD of one class are used in every window, and `share` of them have room.
  void use_all(unsigned size_class, double share) {
    std::vector<word> words;
    for (word i = 1; i <= kObjects; ++i) words.push_back(cold_word(4000, size_class, i * 16));
    const std::uint64_t bytes = kObjects * guides::size_of_class(size_class);
    for (int window = 0; window < 20; ++window) {
      policy_->begin_ageing(chosen_);
      for (word& w : words) w = policy_->age(w | guides::kAccessed);
      end_window(kObjects, kObjects, bytes, static_cast<double>(bytes) * share);
    }
    write_down();
  }
  /// Objects of HOT of all sizes are used as often as chance wills, each with another probability,
  /// and half of them have room.
  void use_some(base::random& random) {
    std::vector<word> words;
    std::uint64_t bytes = 0;
    for (word i = 1; i <= kObjects; ++i) {
      const std::uint64_t each = guides::size_of_class(static_cast<unsigned>(random.below(11)));
      words.push_back(guides::make_word(i * heap::kTogetherBytes, kind::hot, each));
      bytes += each;
    }
    for (int window = 0; window < 60; ++window) {
      policy_->begin_ageing(chosen_);
      std::uint64_t used = 0;
      for (word& w : words) {
        const bool is_used =
            random.below(1 + guides::address_of(w) / heap::kTogetherBytes % 50) == 0;
        used += is_used;
        w = policy_->age(is_used ? w | guides::kAccessed : w);
      }
      end_window(used, 0, bytes, static_cast<double>(bytes) / 2);
    }
    write_down();
  }
  void write_down() {
    gate_.write(policy_->returns());
    gate_.allow(return_gate::kUnlimited);
  }
  bool admits(const word w) { return admit_first(gate_, w, 1).has_value(); }
  /// Returns the word that a use of an object of COLD leaves at the window's end.
  word aged_by_use(word w) { return policy_->age(w | guides::kAccessed); }
  /// Returns whether the policy would let it come back at the window's end, however it rounds.
  bool surely_returns(word w) {
    for (int i = 0; i < 10; ++i) {
      if (policy_->target(aged_by_use(w)) != kind::hot) return false;
    }
    return true;
  }
  /// For all histories and classes; returns how many it admits.
  std::uint64_t expect_rules() {
    std::uint64_t admitted = 0;
    for (unsigned history = 0; history < kHistories; ++history) {
      const word address = 16 * (1 + history % 61);
      bool before = true;
      for (unsigned c = 0; c < kClasses; ++c) {
        const word w = cold_word(history, c, address);
        const bool now = admits(w);
        admitted += now;
        // The policy would admit what the gate admits.
        if (now && !surely_returns(w)) ADD_FAILURE() << history << ", class " << c;
        // A larger object is worth no more, and all of a page or more are worth as much.
        if (now && !before) ADD_FAILURE() << history << ", class " << c;
        if (c > kPageClass && now != before) ADD_FAILURE() << history << ", class " << c;
        before = now;
      }
    }
    return admitted;
  }

  static constexpr std::uint64_t kAll = std::uint64_t{kHistories} * kClasses;
  options chosen_;
  std::unique_ptr<policy> policy_ = make_policy(policy_name::budget);
  return_gate gate_;
};

TEST_F(BudgetReturns, WithRoomForAllEverythingComesBack) {
  use_all(6, 100);
  EXPECT_EQ(expect_rules(), kAll);
}

TEST_F(BudgetReturns, OfObjectsOfOneRateTheSmallComeBackWhereSomeOfTheLargeHaveRoom) {
  for (const unsigned size_class : {3U, 6U, kPageClass, kPageClass + 3}) {
    SCOPED_TRACE(testing::Message() << "class " << size_class);
    policy_ = make_policy(policy_name::budget);
    use_all(size_class, 0.4);
    const std::uint64_t admitted = expect_rules();
    EXPECT_GT(admitted, 0u);
    EXPECT_LT(admitted, kAll);
    // Worth four times as much.
    const unsigned small = std::min(size_class, kPageClass) - 2;
    for (unsigned c = 0; c <= small; ++c) EXPECT_TRUE(admits(cold_word(4000, c)));
  }
}

TEST_F(BudgetReturns, WithHardlyAnyRoomNothingDoes) {
  use_all(0, 1e-4);
  EXPECT_LE(expect_rules(), kAll / 1000);
}

TEST_F(BudgetReturns, OfManyRatesAndSizesWhatIsWorthMostComesBack) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 1u;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  base::random random(seed);
  use_some(random);
  const std::uint64_t admitted = expect_rules();
  EXPECT_GT(admitted, kAll / 100);
  EXPECT_LT(admitted, kAll * 99 / 100);
}

// In HOT it is aged with the use that brought it back, to what COLD keeps of a rate.
TEST_F(BudgetReturns, TheHistoryIsTheRateBeforeTheUse) {
  use_all(6, 100);
  for (unsigned history = 0; history < kHistories; ++history) {
    const auto given = admit_first(gate_, cold_word(history, 6), 1);
    ASSERT_TRUE(given);
    const word in_hot = guides::with_history(guides::make_word(0x5000, kind::hot, 1024), *given);
    const unsigned kept = guides::history_of(aged_by_use(cold_word(history, 6)));
    const unsigned aged = guides::history_of(policy_->age(in_hot | guides::kAccessed));
    ASSERT_NEAR(aged, kept, kEras + 1) << history;
  }
}

}  // namespace
}  // namespace isotherm::collector
