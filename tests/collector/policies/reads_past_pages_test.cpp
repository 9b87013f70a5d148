// A load that reads past the pages of COLD, simulated: what is missed comes back at once or stays
// out, as the policy has written it down for the gate; what leaves does so at a window's end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "collector/memory/memory_room.hpp"
#include "collector/memory/return_gate.hpp"
#include "collector/policy/policy.hpp"
#include "collector/policy/unusual_misses.hpp"

namespace isotherm::collector {
namespace {

using guides::word;
using heap::kind;

class ReadsPastPages : public testing::Test {
 protected:
  static constexpr std::uint64_t kEach = 1024;  // bytes
  static constexpr std::size_t kObjects = 4000, kRoom = 1000;
  /// Beside the objects, the process has as much as they may have.
  static constexpr std::uint64_t kOthers = kRoom * kEach, kTarget = 2 * kRoom * kEach;

  ReadsPastPages() {
    chosen_.memory_target_bytes = kTarget;
    for (std::size_t i = 0; i < kObjects; ++i) {
      words_.push_back(guides::make_word((i + 1) * heap::kTogetherBytes, kind::cold, kEach));
    }
  }
  /// Object i is used in so many of 100 windows: a Zipfian tail.
  static double share_of_windows(std::size_t i) {
    return -std::expm1(-static_cast<double>(kObjects) / 9 / static_cast<double>(i + 1));
  }
  void window() {
    gate_.allow(room().returnable_bytes());
    window_statistics seen;
    seen.window_seconds = 10;
    for (std::size_t i = 0; i < kObjects; ++i) {
      if (random_.unit() < share_of_windows(i)) use(words_[(i + shift_) % kObjects]);
      if (i % (kObjects / 50) == 0) gate_.allow(room().returnable_bytes());
    }
    const returned back = gate_.take_returned();
    back_ = back.objects;
    count_returned(back, seen);
    policy_->note_returned(back);
    age(seen);
    kept_ = count_kept();
    policy_->weigh(chosen_, now(), seen);
    gate_.write(policy_->returns());
    move();
    policy_->adapt(chosen_, 0, seen);
  }
  std::size_t count_kept() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(words_, [](word w) { return guides::heap_of(w) == kind::hot; }));
  }

  options chosen_;
  std::size_t shift_ = 0;     // of the objects' numbers
  std::uint64_t back_ = 0;    // objects, in the last window
  std::uint64_t misses_ = 0;  // likewise
  std::size_t kept_ = 0;      // at its end, before others left
  base::random random_{7};

 private:
  memory_room room() const {
    return {.dram_bytes = kOthers + count_kept() * kEach, .target_bytes = kTarget};
  }
  memory_state now() const {
    const std::uint64_t bytes = count_kept() * kEach;
    return {.target_bytes = kTarget,
            .dram_bytes = kOthers + bytes,
            .warm_bytes = bytes,
            .warm_object_bytes = bytes,
            .cold_objects = kObjects - count_kept(),
            .spread = 1};
  }
  void use(word& w) {
    if (guides::heap_of(w) == kind::cold) {
      const auto before = guides::is_accessed(w) ? heap::used_before::yes : heap::used_before::no;
      if (const auto history = gate_.admit(w, kEach, before)) {
        gate_.note_returned(kEach);
        w = guides::with_history(guides::moved_to(w, guides::address_of(w), kind::hot), *history);
      }
    }
    w = guides::marked(w);
  }
  void age(window_statistics& seen) {
    policy_->begin_ageing(chosen_);
    for (word& w : words_) {
      const bool is_used = guides::is_accessed(w), is_cold = guides::heap_of(w) == kind::cold;
      if (is_cold && !is_used) continue;
      seen.accessed_objects += is_used;
      seen.accessed_cold_objects += is_cold;
      w = policy_->age(w);
      if (is_cold) w = policy_->resting(w);
    }
    misses_ = seen.accessed_cold_objects;
  }
  void move() {
    for (word& w : words_) {
      if (guides::heap_of(w) != kind::hot || policy_->target(w) != kind::cold) continue;
      w = guides::moved_to(policy_->resting(w), guides::address_of(w), kind::cold);
    }
  }

  std::vector<word> words_;
  std::unique_ptr<policy> policy_ = make_policy(policy_name::budget);
  return_gate gate_;
};

TEST_F(ReadsPastPages, FillTheRoomThatThereIs) {
  for (int i = 0; i < 6; ++i) window();
  // A sixteenth of the target is the writers'.
  constexpr std::size_t kUsable = kRoom - 2 * kRoom / 16;
  EXPECT_GT(kept_, kUsable * 7 / 8) << "an eighth is reserved at most";
  EXPECT_LE(kept_, kUsable + 10);
}

// Objects that come back in a window must not be let in and out again in every second one.
TEST_F(ReadsPastPages, ComeToRestBelowWhatMayComeBack) {
  std::uint64_t back = 0, misses = 0;
  for (int i = 0; i < 60; ++i) {
    window();
    if (i < 30) continue;
    back += back_;
    misses += misses_;
  }
  EXPECT_LT(back, misses / 8);
}

TEST_F(ReadsPastPages, LetBackWhatIsWorthMore) {
  constexpr std::size_t kWindows = 20;
  std::uint64_t misses = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    window();
    if (i >= 60 - kWindows) misses += misses_;
  }
  double best = 0;  // the most popular have all the room; a list of the last used misses 1.7 of it
  for (std::size_t i = kRoom - 2 * kRoom / 16; i < kObjects; ++i) best += share_of_windows(i);
  EXPECT_LT(static_cast<double>(misses), 1.15 * best * kWindows);
}

// All that was used is cold from now on, and others are used.
TEST_F(ReadsPastPages, MakeRoomForOthersWhenTheLoadChanges) {
  for (int i = 0; i < 60; ++i) window();
  const std::uint64_t before = misses_;
  shift_ = kObjects / 2;
  window();
  EXPECT_GT(misses_, before * 3 / 2);
  window();
  EXPECT_GT(back_, kRoom / 3) << "as they are used, before their rates are known";
  for (int i = 0; i < 3; ++i) window();
  EXPECT_LT(misses_, before * 4 / 3);
}

TEST(UnusualMisses, EndAWindowThatHasTwiceAsManyAsTheLastOnes) {
  unusual_misses watch;
  std::uint64_t misses = 0;
  for (int i = 0; i < 30; ++i) watch.end_window(misses += 4000);
  EXPECT_FALSE(watch.end_window_now(misses + 7900, 0.9));
  EXPECT_TRUE(watch.end_window_now(misses + 8100, 0.9));
  EXPECT_TRUE(watch.end_window_now(misses + 8100, 0.125));
  EXPECT_FALSE(watch.end_window_now(misses + 8100, 0.1)) << "as soon after the last one";
}

TEST(UnusualMisses, AreUsualAfterAWhile) {
  unusual_misses watch;
  std::uint64_t misses = 0;
  for (int i = 0; i < 30; ++i) watch.end_window(misses += 4000);
  int early = 0;
  for (std::uint64_t seen = 0; seen < 40'000; watch.end_window(misses += seen), ++early) {
    for (seen = 0; seen < 40'000 && !watch.end_window_now(misses + seen, 1);) seen += 100;
    ASSERT_LT(early, 20);
  }
  EXPECT_GE(early, 3);
}

TEST(UnusualMisses, AreNotAFew) {
  unusual_misses watch;
  EXPECT_FALSE(watch.end_window_now(1000, 1));
  EXPECT_TRUE(watch.end_window_now(1001, 1));
}

}  // namespace
}  // namespace isotherm::collector
