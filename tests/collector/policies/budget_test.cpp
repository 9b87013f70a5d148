// The objects that a budget keeps, by numbers.
#include "collector/policy/budget.hpp"
#include "collector/policy/worth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "collector/memory/memory_room.hpp"
#include "collector/memory/return_gate.hpp"

namespace isotherm::collector {
namespace {

using guides::make_word;
using guides::word;
using heap::kind;

/// Many objects of each worth.
class CutForMisses : public testing::Test {
 protected:
  CutForMisses() {
    seen_.objects.fill(1000);
    now_.fill(1000);
  }
  miss_cut cut(double misses) const { return cut_for_misses(seen_, expected_, now_, misses); }

  dram_uses seen_;
  dram_objects now_{};
  std::array<double, kWorths> expected_{};
};

TEST_F(CutForMisses, IsWhereTheObjectsUsedWouldHaveMissedAsOftenAsAllowed) {
  seen_.uses[1] = 5;  // for the first time
  seen_.uses[rate_of(0.01)] = 10;
  seen_.uses[rate_of(0.1)] = 100;
  EXPECT_EQ(cut(5).at, rate_of(0.01));
  EXPECT_EQ(cut(15).at, rate_of(0.1));
  EXPECT_EQ(cut(115).at, kWorths);
  EXPECT_EQ(cut(115).misses, 115);
}

TEST_F(CutForMisses, LetsGoAShareOfThoseThatAreTooManyTogether) {
  seen_.uses[1] = 5;
  seen_.uses[rate_of(0.01)] = 10;
  EXPECT_EQ(cut(4).at, 1u);
  EXPECT_DOUBLE_EQ(cut(4).share, 0.8);
  EXPECT_DOUBLE_EQ(cut(4).misses, 4);
  EXPECT_EQ(cut(12).at, rate_of(0.01));
  EXPECT_DOUBLE_EQ(cut(12).share, 0.7);
  EXPECT_EQ(cut(0).share, 0) << "whatever is used comes back";
  EXPECT_EQ(cut(-1).at, 0u) << "more misses than are allowed";
  EXPECT_EQ(cut(-1).share, 0);
}

TEST_F(CutForMisses, LetsGoNoShareOfThoseThatAreUsedInMostWindows) {
  seen_.uses[rate_of(0.9)] = 900;
  EXPECT_EQ(cut(400).share, 0);
  EXPECT_EQ(cut(900).at, kWorths);
  expected_[rate_of(0.01)] = 600;
  EXPECT_EQ(cut(400).at, rate_of(0.01));
  EXPECT_EQ(cut(400).share, 0);
}

TEST_F(CutForMisses, ExpectsAsMuchOfWhatIsKnown) {  // nothing was used in this window
  expected_[rate_of(0.01)] = 10;
  expected_[rate_of(0.1)] = 100;
  EXPECT_EQ(cut(0).at, rate_of(0.01));
  EXPECT_EQ(cut(50).at, rate_of(0.1));
  EXPECT_DOUBLE_EQ(cut(50).share, 0.4);
  EXPECT_EQ(cut(200).at, kWorths);
}

TEST(AllowedMisses, AreTheLessOfAShareOfTheUsesAndOfWhatTheDeviceReads) {
  options chosen;
  chosen.miss_share = 0.1;
  chosen.misses_per_second = 50;
  EXPECT_EQ(allowed_misses(chosen, 1000, 10), 100);
  EXPECT_EQ(allowed_misses(chosen, 100'000, 10), 500);
}

/// A policy and some words of objects, without the objects.
class BudgetPolicy : public testing::Test {
 protected:
  static constexpr std::uint64_t kEach = 1000;  // bytes

  void make(std::size_t objects, kind where, std::uint64_t bytes = kEach) {
    for (std::size_t i = 0; i < objects; ++i) {
      // Each object has an extent of its own: objects that share an extent leave together.
      words_.push_back(make_word(heap::kTogetherBytes * (words_.size() + 1), where, bytes));
      sizes_.push_back(bytes);
    }
  }
  void begin_anew() {
    policy_ = make_budget_policy();
    words_.clear();
    sizes_.clear();
  }
  /// A window in which `is_used(i)` says which are used; objects go where the policy wants them.
  template <class Used>
  void window(Used is_used) {
    window_statistics seen;
    seen.window_seconds = seconds_;
    if (may_come_back_at_once_) let_back(is_used);
    count_returned(came_back_, seen);
    policy_->note_returned(std::exchange(came_back_, {}));
    policy_->begin_ageing(chosen_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (!is_used(i)) {
        words_[i] = policy_->age(words_[i]);
        continue;
      }
      ++seen.accessed_objects;
      seen.accessed_cold_objects += guides::heap_of(words_[i]) == kind::cold;
      words_[i] = policy_->age(words_[i] | guides::kAccessed);
      EXPECT_FALSE(guides::is_accessed(words_[i]));
    }
    std::uint64_t warm = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (guides::heap_of(words_[i]) != kind::cold) warm += sizes_[i];
    }
    policy_->weigh(chosen_,
                   {.target_bytes = chosen_.memory_target_bytes,
                    .dram_bytes = warm,
                    .warm_bytes = warm,
                    .warm_object_bytes = warm,
                    .cold_objects = count(kind::cold, kind::cold),
                    .spread = spread_},
                   seen);
    std::vector<std::size_t> missed;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const bool is_cold = guides::heap_of(words_[i]) == kind::cold;
      if (!is_cold) warm -= move(i, policy_->target(words_[i]));
      if (is_cold && is_used(i) && !is_cold_out_) missed.push_back(i);
    }
    // Objects come back last, within the room that there is (scan/choice.hpp).
    std::uint64_t room = room_beside(warm).promotable_bytes();
    for (const std::size_t i : missed) {
      const auto target = policy_->target(words_[i]);
      if (target != kind::hot || sizes_[i] > room) continue;
      room -= sizes_[i];
      move(i, target);
    }
    gate_.write(policy_->returns());
    rate_windows_ = policy_->adapt(chosen_, 0, seen).rate_windows;
    misses_ = seen.accessed_cold_objects;
  }
  /// Lets objects of COLD come back as they are used a second time, within the room that there is.
  template <class Used>
  void let_back(Used is_used) {
    std::uint64_t warm = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (guides::heap_of(words_[i]) != kind::cold) warm += sizes_[i];
    }
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (guides::heap_of(words_[i]) != kind::cold || !is_used(i)) continue;
      gate_.allow(room_beside(warm).returnable_bytes());
      const auto history = gate_.admit(words_[i], sizes_[i], heap::used_before::yes);
      if (!history) continue;
      gate_.note_returned(sizes_[i]);
      warm += sizes_[i];
      words_[i] = guides::with_history(
          guides::moved_to(words_[i], guides::address_of(words_[i]), kind::hot), *history);
    }
    came_back_ = gate_.take_returned();
  }
  /// Moves object `i`. Returns the bytes that have left DRAM.
  std::uint64_t move(std::size_t i, std::optional<kind> target) {
    const kind to = target.value_or(guides::heap_of(words_[i]));
    const bool leaves = to == kind::cold;
    if (leaves) words_[i] = policy_->resting(words_[i]);
    words_[i] = guides::moved_to(words_[i], guides::address_of(words_[i]), to);
    return leaves ? sizes_[i] : 0;
  }
  memory_room room_beside(std::uint64_t warm) const {
    return {.dram_bytes = warm, .target_bytes = chosen_.memory_target_bytes};
  }
  std::size_t count(kind one, kind other) const {
    std::size_t n = 0;
    for (const word w : words_) n += guides::heap_of(w) == one || guides::heap_of(w) == other;
    return n;
  }

  options chosen_;
  std::unique_ptr<policy> policy_ = make_budget_policy();
  std::vector<word> words_;
  std::vector<std::uint64_t> sizes_;
  std::uint64_t misses_ = 0;
  std::uint64_t rate_windows_ = 0;  // that the rates are the mean of
  double spread_ = 1;
  double seconds_ = 10;  // of a window
  returned came_back_;   // in the next window
  /// Objects of COLD have left DRAM: none comes back at a window's end.
  bool is_cold_out_ = false;
  bool may_come_back_at_once_ = false;  // by the gate
  return_gate gate_;
};

TEST_F(BudgetPolicy, KeepsTheMostUsedThatHaveRoom) {
  make(1000, kind::newborn);
  chosen_.memory_target_bytes = 320'000;  // of which a 16th is not aimed at: 300 objects
  for (int i = 0; i < 40; ++i) {
    window(
        [&](std::size_t object) { return object % (object / 100 + 1) == i % (object / 100 + 1); });
  }
  EXPECT_EQ(count(kind::newborn, kind::newborn), 0u);
  EXPECT_LE(count(kind::hot, kind::hot), 320u);
  EXPECT_GE(count(kind::hot, kind::hot), 250u);
  // Used in every window, and in every second.
  std::size_t hot = 0;
  for (std::size_t i = 0; i < 200; ++i) hot += guides::heap_of(words_[i]) == kind::hot;
  EXPECT_GE(hot, 195u);
}

// An object that came back for a use was a miss, and no sign that kept ones are used as before.
TEST_F(BudgetPolicy, TellsOtherObjectsFromMoreOfThemByWhatItHasKept) {
  constexpr std::size_t kKept = 2000, kBack = 300;
  make(kKept + kBack, kind::hot);
  chosen_.memory_target_bytes = 100 * kKept * kEach;  // all of them have room
  const auto every_second = [](std::size_t window) {
    return [window](std::size_t object) { return object < kKept && object % 2 == window % 2; };
  };
  for (std::size_t i = 0; i < 20; ++i) window(every_second(i));
  seconds_ = 1.25;  // it has ended early
  came_back_ = {kBack, kBack * kEach};
  window([](std::size_t object) { return object >= kKept; });
  EXPECT_EQ(rate_windows_, 0u);
}

/// Counts those that stay of 300 objects that are used in every second window, and have room,
/// beside so many others that are read in every window, past their pages: these may come back at
/// their next use.
class BudgetPolicyReserve : public BudgetPolicy {
 protected:
  std::size_t kept_beside(std::size_t wanted, std::size_t windows = 60) {
    begin_anew();
    make(300, kind::hot);
    make(700, kind::cold);
    is_cold_out_ = true;
    for (std::size_t i = 0; i < windows; ++i) {
      // At last there is no more room: a 16th is not aimed at.
      chosen_.memory_target_bytes = i < windows - 1 ? 3'200'000 : 320'000;
      window([=](std::size_t object) {
        return object < 300 ? object % 2 == i % 2 : object < 300 + wanted;
      });
    }
    return count(kind::hot, kind::hot);
  }

  /// Returns how many of 300 objects that are used in every window stay after so many others came
  /// back.
  std::size_t kept_after(std::uint64_t came_back) {
    make(300, kind::hot);
    make(700, kind::cold);
    chosen_.memory_target_bytes = 321'000;  // a little more than these take
    const auto hot = [](std::size_t object) { return object < 300; };
    for (int i = 0; i < 10; ++i) window(hot);
    EXPECT_EQ(count(kind::hot, kind::hot), 300u);
    policy_->note_returned({came_back, came_back * 1024});
    window(hot);
    return count(kind::hot, kind::hot);
  }
};

TEST_F(BudgetPolicyReserve, IsForThoseThatComeBackInAWindow) {
  // A random share leaves of objects that are worth the same.
  constexpr std::size_t kDraws = 24;
  double sum = 0;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    sum += static_cast<double>(kept_beside(20, 50 + draw));
  }
  EXPECT_NEAR(sum / kDraws, 280, 1.5);
}

TEST_F(BudgetPolicyReserve, IsNoMoreThanAnEighthOfTheRoom) {
  EXPECT_NEAR(static_cast<double>(kept_beside(200)), 263, 2);
}

TEST_F(BudgetPolicyReserve, IsForAQuarterOfThoseThatCameBack) {
  EXPECT_NEAR(static_cast<double>(kept_after(100)), 275, 5);
}

TEST_F(BudgetPolicyReserve, IsNoMoreThanAnEighthForThoseThatCameBack) {
  EXPECT_NEAR(static_cast<double>(kept_after(700)), 263, 5);
}

TEST_F(BudgetPolicyReserve, IsNotForWhatIsWorthNoMoreThanTheLeastThatIsKept) {
  make(300, kind::hot);
  make(700, kind::cold);
  is_cold_out_ = true;
  chosen_.memory_target_bytes = 320'000;
  for (std::size_t i = 0; i < 60; ++i) {
    window([=](std::size_t object) { return object % 2 == i % 2; });
  }
  EXPECT_EQ(count(kind::hot, kind::hot), 300u);
}

TEST_F(BudgetPolicy, KeepsAsManyOfOneRateAsHaveRoom) {
  make(10'000, kind::newborn);
  chosen_.memory_target_bytes = 3'200'000;  // of which a 16th is not aimed at
  for (int i = 0; i < 3; ++i) {
    window([](std::size_t) { return true; });
    EXPECT_LE(count(kind::hot, kind::hot), 3200u);
    EXPECT_GE(count(kind::hot, kind::hot), 2800u);
    // The part of one rate that leaves is expected, too.
    if (i == 0) EXPECT_GE(policy_->expected_bytes(), 16'000'000u);
  }
}

TEST_F(BudgetPolicy, OfOneWorthWhatIsInDramStays) {
  make(10'000, kind::newborn);
  chosen_.memory_target_bytes = 3'200'000;
  const auto all = [](std::size_t) { return true; };
  for (int i = 0; i < 20; ++i) window(all);
  const std::vector<word> before = words_;
  window(all);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    moved += guides::heap_of(words_[i]) != guides::heap_of(before[i]);
  }
  EXPECT_LT(moved, 300u);
}

TEST_F(BudgetPolicy, LeavesNoRoomForWhatCannotComeBack) {
  make(300, kind::hot);
  make(700, kind::cold);
  chosen_.memory_target_bytes = 320'000;
  is_cold_out_ = true;
  for (int i = 0; i < 20; ++i) {
    window([](std::size_t object) { return object >= 100; });
    EXPECT_EQ(count(kind::hot, kind::hot), 300u);
  }
}

// A miss costs a read of a page for a key as for its value.
TEST_F(BudgetPolicy, KeepsASmallObjectBeforeALargeOneThatIsUsedMoreOften) {
  make(1000, kind::newborn, 32);
  make(1000, kind::newborn, 1000);
  chosen_.memory_target_bytes = 332'000;  // the small, and 290 of the large
  for (std::size_t i = 0; i < 100; ++i) {
    window([i](std::size_t object) {
      return object < 1000 ? object % 50 == i % 50 : object % 10 == i % 10;
    });
  }
  std::size_t small = 0, large = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    small += guides::heap_of(words_[i]) == kind::hot;
    large += guides::heap_of(words_[1000 + i]) == kind::hot;
  }
  EXPECT_EQ(small, 1000u);
  EXPECT_GE(large, 200u);
  EXPECT_LE(large, 300u);
}

TEST_F(BudgetPolicy, OfWhatWasNeverUsedTheLargeLeaveFirst) {
  make(1000, kind::newborn, 1000);
  make(1000, kind::newborn, 32);
  chosen_.memory_target_bytes = 332'000;
  for (int i = 0; i < 5; ++i) window([](std::size_t) { return false; });
  std::size_t small = 0;
  for (std::size_t i = 1000; i < 2000; ++i) small += guides::heap_of(words_[i]) == kind::hot;
  EXPECT_EQ(small, 1000u);
}

TEST_F(BudgetPolicy, WhatWasMadeIsNotWorthMoreForThat) {
  chosen_.memory_target_bytes = 97'000;  // room for 91
  const auto kept = [&] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < 100; ++i) n += guides::heap_of(words_[i]) == kind::hot;
    return n;
  };
  // Uses each of the first 100 objects in one window of 25.
  const auto use = [&](std::size_t i) {
    window([i](std::size_t object) { return object >= 100 || object % 25 == i % 25; });
  };
  constexpr std::size_t kDraws = 24;
  std::size_t sum = 0;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    begin_anew();
    make(100, kind::hot);
    for (std::size_t i = 0; i < 40 + draw; ++i) use(i);
    ASSERT_GE(kept(), 75u);
    make(100, kind::newborn);  // which marks them as used
    use(40 + draw);
    sum += kept();
  }
  // All are worth about the same: none has more right to its room, as chance wills in one window.
  EXPECT_GE(sum / kDraws, 45u);
}

// A pause, or a memory that began anew, must not make keys of unseen use worth nothing.
TEST_F(BudgetPolicy, WhatWasNeverUsedIsWorthWhatColdIsUsed) {
  make(2000, kind::newborn, 32);
  make(2000, kind::newborn, 1000);
  chosen_.memory_target_bytes = 564'000;
  base::random random(7);
  for (int i = 0; i < 20; ++i) {
    // Each value is used in one window of eight, and its key with it.
    std::vector<bool> is_used(2000);
    for (std::size_t k = 0; k < 2000; ++k) is_used[k] = random() % 8 == 0;
    window([&](std::size_t object) { return is_used[object % 2000]; });
    std::size_t keys = 0;
    for (std::size_t k = 0; k < 2000; ++k) keys += guides::heap_of(words_[k]) != kind::cold;
    EXPECT_GE(keys, 1990u) << "window " << i;
  }
}

TEST_F(BudgetPolicy, WithRoomForAllWhateverIsUsedComesBack) {
  make(100, kind::cold);
  chosen_.memory_target_bytes = 1'000'000;
  window([](std::size_t object) { return object < 40; });
  EXPECT_EQ(count(kind::hot, kind::hot), 40u);
}

TEST_F(BudgetPolicy, ARecordReadOnceFromTheTailDoesNotDisplaceTheWarm) {
  make(100, kind::hot);
  make(1000, kind::cold);
  chosen_.memory_target_bytes = 100'000;
  for (int i = 0; i < 60; ++i) {
    // Half of the hot are used in each window, and another tenth of the cold.
    window([i](std::size_t object) {
      return object < 100 ? object % 2 == static_cast<std::size_t>(i % 2)
                          : object % 100 == static_cast<std::size_t>(i);
    });
  }
  std::size_t stayed = 0;
  for (std::size_t i = 0; i < 100; ++i) stayed += guides::heap_of(words_[i]) == kind::hot;
  EXPECT_GE(stayed, 85u);
}

TEST_F(BudgetPolicy, AShiftOfTheHotSetIsFollowedWithinFourWindows) {
  make(1000, kind::newborn);
  chosen_.memory_target_bytes = 320'000;
  is_cold_out_ = may_come_back_at_once_ = true;
  for (int i = 0; i < 300; ++i) window([](std::size_t object) { return object < 200; });
  EXPECT_EQ(misses_, 0u);
  for (int i = 0; i < 5; ++i) window([](std::size_t object) { return object >= 800; });
  EXPECT_EQ(misses_, 0u) << "after four windows all of the new hot set is in DRAM";
}

// Clients that pause and come back use the same objects, at first fewer of them. More of these are
// hot, so that the share of misses rises when the others are used again.
TEST_F(BudgetPolicy, APauseOfTheLoadIsNoShiftOfTheHotSet) {
  base::random random(11);
  make(3000, kind::newborn);
  chosen_.memory_target_bytes = 900'000;  // of 3 million
  std::uint64_t at_first = 0;             // when the first windows say what is usual
  for (unsigned i = 0; i < 90; ++i) {
    if (i == 15) at_first = rate_windows_;
    const double load = i % 3 == 2 ? 0.15 : 1;
    window([&](std::size_t object) {
      const double uses = 300 / static_cast<double>(object + 1);  // a Zipfian of exponent 1
      return random.unit() < -std::expm1(-load * uses);
    });
  }
  EXPECT_EQ(rate_windows_, at_first + 75);
}

TEST_F(BudgetPolicy, WhatIsMadeAfterAnEmptyWindowIsNotTakenForHot) {
  window([](std::size_t) { return false; });
  make(100, kind::newborn);
  window([](std::size_t) { return true; });
  for (const word w : words_) EXPECT_LE(guides::history_of(w), 1u);
}

TEST_F(BudgetPolicy, WhatAFewObjectsTookSaysNothingOfMany) {
  make(10'000, kind::newborn, kEach);
  chosen_.memory_target_bytes = 20'000'000;
  spread_ = 400;  // ten keys in four extents
  window([](std::size_t) { return false; });
  EXPECT_EQ(count(kind::hot, kind::hot), 10'000u);
}

TEST_F(BudgetPolicy, WithoutATargetWhatWasJustMadeStays) {
  make(10'000, kind::newborn);
  window([](std::size_t) { return true; });  // which is how new objects look
  EXPECT_EQ(count(kind::hot, kind::newborn), 10'000u);
}

TEST_F(BudgetPolicy, WithoutATargetLetsGoWhatIsWorthNoDram) {
  make(10'000, kind::newborn);
  chosen_.miss_share = 0.085;
  chosen_.misses_per_second = 1e9;
  std::uint64_t misses = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    window([i](std::size_t object) {
      return object < 1000 || base::mix64(10'000 * i + object) % 100 == 0;
    });
    if (i >= 300) misses += misses_;
  }
  // 1000 uses of the hot and 90 of the rest in a window: 8.5% of 1090 are 93 that may miss.
  EXPECT_NEAR(static_cast<double>(count(kind::hot, kind::hot)), 1000, 150);
  EXPECT_NEAR(static_cast<double>(misses), 100 * 93, 100 * 10);
}

// All of those that are used now and then would miss too often; a share of them does not.
TEST_F(BudgetPolicy, WithoutATargetAsManyLeaveAsMayMiss) {
  for (const std::uint64_t used_of_others : {300U, 1000U, 3000U}) {
    policy_ = make_budget_policy();
    words_.clear();
    sizes_.clear();
    make(20'000, kind::newborn);
    const double allowed = chosen_.miss_share * (500 + static_cast<double>(used_of_others));
    chosen_.misses_per_second = 1e9;
    double misses = 0;
    for (std::uint64_t i = 0; i < 60; ++i) {
      window([=](std::size_t object) {
        return object < 500 || base::mix64(20'000 * i + object) % 19'500 < used_of_others;
      });
      if (i < 20) continue;
      EXPECT_LT(static_cast<double>(misses_), 1.4 * allowed) << used_of_others << ", window " << i;
      misses += static_cast<double>(misses_) / 40;
    }
    EXPECT_LT(misses, 1.1 * allowed) << used_of_others;
    EXPECT_GT(misses, 0.7 * allowed) << used_of_others;
    const double share = allowed / static_cast<double>(used_of_others);
    EXPECT_NEAR(static_cast<double>(count(kind::cold, kind::cold)), 19'500 * share, 2500)
        << used_of_others;
    EXPECT_GT(rate_windows_, 50u) << "what was let go misses as was expected";
  }
}

// Reads of a second must not exceed the limit when the load comes in bursts, either.
TEST_F(BudgetPolicy, MissesOfABusyWindowAreWithinTheLimitAfterIdleOnesToo) {
  make(10'000, kind::newborn);
  chosen_.miss_share = 1;
  chosen_.misses_per_second = 10;  // 100 a window; of those used now and then 900 are
  std::uint64_t misses = 0;
  for (std::uint64_t i = 0; i < 600; ++i) {
    const std::uint64_t phase = i % 6;  // busy, half busy, and four idle ones
    window([i, phase](std::size_t object) {
      if (phase > 1) return false;
      const auto dice = base::mix64(10'000 * i + object);
      return object < 1000 ? phase == 0 || dice % 2 == 0
                           : dice % 10'000 < (phase == 0 ? 1000 : 500);
    });
    if (i >= 300 && phase == 0) misses += misses_;
  }
  EXPECT_GT(misses, 50 * 50u);
  EXPECT_LT(misses, 50 * 130u);
}

TEST_F(BudgetPolicy, WhatWasMadeSinceTheWindowsEndStaysInNew) {
  window([](std::size_t) { return true; });
  EXPECT_FALSE(policy_->target(make_word(16, kind::newborn, kEach)));
  EXPECT_FALSE(policy_->target(make_word(16, kind::newborn, kEach) | guides::kAccessed));
}

}  // namespace
}  // namespace isotherm::collector
