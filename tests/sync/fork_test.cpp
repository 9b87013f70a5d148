// A fork child has the thread that forked and no other. Tests keep the others nearly all the time
// amid the steps in which a fork may find them.
#include <gtest/gtest.h>

#include <functional>
#include <stop_token>
#include <thread>

#include "base/atomic.hpp"
#include "base/in_a_child.hpp"
#include "sync/epoch.hpp"
#include "sync/retire.hpp"

namespace isotherm::sync {
namespace {

using testing_help::succeeds_in_a_child;

constexpr int kForks = 30;

/// Does `act` on a thread of its own again and again, for its life.
std::jthread again_and_again(std::function<void()> act) {
  return std::jthread([act = std::move(act)](const std::stop_token& is_over) {
    while (!is_over.stop_requested()) act();
  });
}

TEST(Fork, TheChildsCountsAreNotLeftLocked) {
  {
    const scope claims_a_slot;
  }
  long guide_slot = 0;
  const auto other = again_and_again([&] { forget_counted(&guide_slot); });
  for (int i = 0; i < kForks; ++i) {
    ASSERT_TRUE(succeeds_in_a_child([&] {
      forget_counted(&guide_slot);
      return 0;
    }));
  }
}

void do_nothing(void*) noexcept {}

TEST(Fork, TheChildReclaimsWhatAnotherThreadWasAboutToReclaim) {
  auto other = again_and_again([] { reclaim_ready(); });
  int object = 0;
  for (int i = 0; i < kForks; ++i) {
    retire(&object, &do_nothing);
    // The other thread seals it somewhat later: the forks come earlier and later.
    for (int turn = 0; turn < 10 * i; ++turn) base::spin_pause();
    ASSERT_TRUE(succeeds_in_a_child([&] {
      retire(&object, &do_nothing);
      while (retired_blocks() > 0) reclaim_ready();
      return 0;
    }));
  }
  other = {};       // ends it
  reclaim_ready();  // nothing stays for the tests that follow
}

TEST(Fork, TheReserveIsNotLeftLockedWhereTheForkingThreadHasNoSlot) {
  {
    const scope registers_the_handlers;
  }
  const auto other = again_and_again([] {
    retired_list::lock_reserve();
    std::this_thread::yield();
    retired_list::unlock_reserve();
    std::this_thread::yield();  // the forking thread's turn
  });
  std::thread([] {
    for (int i = 0; i < kForks; ++i) {
      ASSERT_TRUE(succeeds_in_a_child([] {
        if (this_thread_slot) return 1;
        retired_list::lock_reserve();
        return 0;
      }));
    }
  }).join();
}

TEST(Fork, NothingMovesInTheChild) {
  {
    const scope registers_the_handlers;
  }
  const moving_guard moving;
  ASSERT_TRUE(begin_migration_epoch(1'000'000));
  EXPECT_TRUE(succeeds_in_a_child(
      [] { return !moves_may_happen() && current_state() == migration_state::inactive ? 0 : 1; }));
  EXPECT_TRUE(moves_may_happen());
  end_migration_epoch();
}

}  // namespace
}  // namespace isotherm::sync
