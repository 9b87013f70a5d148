#include "sync/retire.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace isotherm::sync {
namespace {

std::atomic<int> reclaimed{0};
void count_reclaimed(void*) noexcept { ++reclaimed; }

TEST(Retire, FreesOnceNoScopeIsOpen) {
  reclaimed = 0;
  int object = 0;
  retire(&object, &count_reclaimed);
  EXPECT_EQ(reclaimed, 0);
  reclaim_ready();
  EXPECT_EQ(reclaimed, 1);
  reclaim_ready();
  EXPECT_EQ(reclaimed, 1);
}

TEST(Retire, WaitsForAScopeOfAnotherThread) {
  reclaimed = 0;
  std::latch entered(1), may_leave(1), left(1);
  std::thread reader([&] {
    {
      const scope inside;
      entered.count_down();
      may_leave.wait();
    }
    left.count_down();
  });
  entered.wait();
  int object = 0;
  retire(&object, &count_reclaimed);
  reclaim_ready();
  reclaim_ready();
  EXPECT_EQ(reclaimed, 0) << "freed under a scope that was open when it was retired";
  EXPECT_FALSE(wait_for_open_scopes(1000));
  may_leave.count_down();
  left.wait();
  EXPECT_TRUE(wait_for_open_scopes(1'000'000));
  reclaim_ready();
  EXPECT_EQ(reclaimed, 1);
  reader.join();
}

TEST(Retire, AScopeThatOpensLaterDoesNotDelay) {
  reclaimed = 0;
  int object = 0;
  retire(&object, &count_reclaimed);
  std::thread([] { reclaim_ready(); }).join();  // seals and, no scope being open, frees
  EXPECT_EQ(reclaimed, 1);
}

TEST(Retire, LeavingReclaimsByItself) {
  reclaimed = 0;
  int object = 0;
  for (std::size_t i = 0; i < 10 * kReclaimBatch; ++i) {
    const scope inside;
    retire(&object, &count_reclaimed);
  }
  EXPECT_GT(reclaimed, 0);
  reclaim_ready();
  EXPECT_EQ(reclaimed, static_cast<int>(10 * kReclaimBatch));
}

TEST(Retire, BlocksOfAThreadThatEndedAreFreedByOthers) {
  reclaimed = 0;
  int object = 0;
  std::thread([&object] { retire(&object, &count_reclaimed); }).join();
  reclaim_ready();
  EXPECT_EQ(reclaimed, 1);
}

// A shared pointer is swapped and its old target retired while readers follow it: a reader must
// never see a freed target (also a job for the sanitizers).
TEST(Retire, StressReadersNeverSeeFreedMemory) {
  struct node {
    std::atomic<std::uint64_t> live{0x1234};
  };
  static std::atomic<std::uint64_t> bad{0};
  bad = 0;
  std::atomic<node*> shared{new node};
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        const scope inside;
        const node* seen = shared.load(std::memory_order_acquire);
        for (int j = 0; j < 10; ++j) bad += seen->live.load(std::memory_order_relaxed) != 0x1234;
      }
    });
  }
  for (int i = 0; i < 50'000; ++i) {
    const scope inside;
    node* old = shared.exchange(new node, std::memory_order_acq_rel);
    retire(old, [](void* object) noexcept {
      static_cast<node*>(object)->live = 0;
      delete static_cast<node*>(object);
    });
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(bad, 0u);
  delete shared.load();
  reclaim_ready();
  EXPECT_EQ(retired_blocks(), 0u);
}

}  // namespace
}  // namespace isotherm::sync
