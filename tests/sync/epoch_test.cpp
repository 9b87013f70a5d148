#include "sync/epoch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/in_a_child.hpp"
#include "sync/retire.hpp"
#include "sync/scope.hpp"
#include "sync/scope_elsewhere.hpp"
#include "sync/steps.hpp"

namespace isotherm::sync {
namespace {

TEST(Epoch, StatesFollowThePaper) {
  EXPECT_EQ(current_state(), migration_state::inactive);
  ASSERT_TRUE(begin_migration_epoch(1'000'000));
  EXPECT_EQ(current_state(), migration_state::active);
  {
    const scope inside;
    EXPECT_TRUE(inside.is_tracking());
  }
  end_migration_epoch();
  EXPECT_EQ(current_state(), migration_state::inactive);
  const scope inside;
  EXPECT_FALSE(inside.is_tracking());
}

TEST(Epoch, AThreadThatNeverLeavesDelaysOnlyTheCollector) {
  testing_help::scope_elsewhere stuck;
  EXPECT_FALSE(begin_migration_epoch(2'000));
  EXPECT_EQ(current_state(), migration_state::inactive) << "an abandoned epoch leaves PREPARE on";
  {
    const scope inside;  // others go on, untracked
    EXPECT_FALSE(inside.is_tracking());
  }
  stuck.leave();
  EXPECT_TRUE(begin_migration_epoch(1'000'000));
  end_migration_epoch();
}

TEST(Epoch, AScopeOpenedBeforeIsNeverInsideAnActiveEpochUntracked) {
  // Readers check, whenever the state is ACTIVE throughout their look, that they are tracking.
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> untracked{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        const scope inside;
        const std::uint64_t first = facts.global_word.load_seq_cst();
        if (state_of(first) == migration_state::active && !inside.is_tracking() &&
            facts.global_word.load_seq_cst() == first) {
          ++untracked;
        }
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    if (begin_migration_epoch(1'000'000)) end_migration_epoch();
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(untracked, 0u);
}

#if defined(ISOTHERM_SANITIZED)
// A thread reads the global word, and before it has published what it read the epoch changes:
// no thread waits for it, so it must look again.
TEST(Epoch, AScopeWhoseEntryTheEpochOvertookEntersAnew) {
  bool overtaken = false;
  {
    const at_steps between([&](step at, const void*) {
      if (at != step::entering || std::exchange(overtaken, true)) return;
      std::thread([] { EXPECT_TRUE(begin_migration_epoch(1'000'000)); }).join();
    });
    const scope inside;
    ASSERT_TRUE(overtaken);
    EXPECT_TRUE(inside.is_tracking()) << "it uses objects, uncounted, while they move";
    EXPECT_EQ(inside.slot().entered.load_relaxed(), slot_value(facts.global_word.load_relaxed()));
  }
  end_migration_epoch();
}
#endif

TEST(Epoch, LeavingATrackingScopeReleasesItsCounts) {
  static int released;
  released = 0;
  set_count_release([](void*) noexcept { ++released; });
  ASSERT_TRUE(begin_migration_epoch(1'000'000));
  int first = 0, second = 0;
  {
    const scope outer;
    outer.slot().counted.insert(&first);
    {
      const scope inner;
      inner.slot().counted.insert(&second);
    }
    EXPECT_EQ(released, 0) << "only the outermost scope takes its counts back";
    end_migration_epoch();  // the scope keeps tracking until it closes
    EXPECT_TRUE(outer.is_tracking());
  }
  EXPECT_EQ(released, 2);
}

TEST(Epoch, AWaitEndsWhenItIsToldTo) {
  const base::atomic<bool> stop{true};
  const patience endless(~std::uint64_t{0}, &stop);
  testing_help::scope_elsewhere stuck;
  EXPECT_FALSE(wait_for_open_scopes(endless));
  EXPECT_FALSE(begin_migration_epoch(endless));
  EXPECT_EQ(current_state(), migration_state::inactive);
  stuck.leave();
}

TEST(Epoch, AForkChildForgetsTheOtherThreadsScopes) {
  testing_help::scope_elsewhere stuck;
  EXPECT_TRUE(
      testing_help::succeeds_in_a_child([] { return wait_for_open_scopes(1'000'000) ? 0 : 1; }));
  stuck.leave();
}

}  // namespace
}  // namespace isotherm::sync
