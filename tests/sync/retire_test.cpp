#include "sync/retire.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/thread_state.hpp"
#include "os/clock.hpp"
#include "sync/epoch.hpp"

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
  constexpr int kBlocks = 10 * kReclaimWeight / kBlockWeight;
  for (int i = 0; i < kBlocks; ++i) {
    const scope inside;
    retire(&object, &count_reclaimed);
  }
  EXPECT_GT(reclaimed, 0);
  reclaim_ready();
  EXPECT_EQ(reclaimed, kBlocks);
}

TEST(Retire, LeavingReclaimsALargeBlockAtOnce) {
  reclaimed = 0;
  int object = 0;
  {
    const scope inside;
    retire(&object, &count_reclaimed, kReclaimWeight);
    EXPECT_EQ(retired_bytes(), kReclaimWeight);
  }
  EXPECT_EQ(reclaimed, 1);
  EXPECT_EQ(retired_bytes(), 0u);
}

/// A scope of another thread, open until release().
class sitter {
 public:
  sitter() {
    thread_ = std::thread([this] {
      const scope inside;
      entered_.count_down();
      may_leave_.wait();
    });
    entered_.wait();
  }
  void release() {
    may_leave_.count_down();
    thread_.join();
  }

 private:
  std::latch entered_{1}, may_leave_{1};
  std::thread thread_;
};

constexpr std::uint64_t kSlowNs = 20'000;
void take_a_while(void*) noexcept {
  for (const std::uint64_t end = os::monotonic_ns() + kSlowNs; os::monotonic_ns() < end;) {
  }
  ++reclaimed;
}

/// Parameter: the bytes that are told of a block; 0 for an object in COLD.
class RetireSlowBlocks : public testing::TestWithParam<std::size_t> {};

// Blocks that waited for a stuck scope are all freed, in pieces.
TEST_P(RetireSlowBlocks, LeavingAScopeFreesABoundedPieceOfABacklog) {
  constexpr int kBlocks = 2000;
  reclaimed = 0;
  sitter stuck;
  int object = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const scope inside;
    retire(&object, &take_a_while, GetParam());
  }
  EXPECT_EQ(reclaimed, 0);
  EXPECT_EQ(retired_blocks(), static_cast<std::size_t>(kBlocks));
  EXPECT_EQ(retired_bytes(), kBlocks * GetParam());
  stuck.release();
  // A tenth of a millisecond's worth of blocks, however slow the machine.
  constexpr int kMostAtOnce = 100'000 / kSlowNs + 2;
  int scopes = 0;
  for (; retired_blocks() > 10; ++scopes) {
    const int before = reclaimed;
    {
      const scope inside;
      retire(&object, &take_a_while, kReclaimWeight / 8);
    }
    ASSERT_LE(reclaimed - before, kMostAtOnce);
  }
  reclaim_ready();
  EXPECT_EQ(reclaimed, kBlocks + scopes);
}

TEST_P(RetireSlowBlocks, ReclaimingStopsWhenItsTimeIsUp) {
  reclaimed = 0;
  int object = 0;
  for (int i = 0; i < 100; ++i) retire(&object, &take_a_while, GetParam());
  reclaim_ready(1);
  EXPECT_EQ(reclaimed, 1);
  reclaim_ready();
  EXPECT_EQ(reclaimed, 100);
}

// One block may be in hand when the time is up, not one of each thread.
TEST(Retire, ReclaimingStopsWhenItsTimeIsUpHoweverManyThreadsRetired) {
  constexpr int kThreads = 10;
  reclaimed = 0;
  int object = 0;
  std::latch all_here(kThreads);  // or they would have one slot in turn
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      retire(&object, &take_a_while);
      all_here.arrive_and_wait();
    });
  }
  for (auto& thread : threads) thread.join();
  reclaim_ready(1);
  EXPECT_EQ(reclaimed, 1);
  reclaim_ready();
  EXPECT_EQ(reclaimed, kThreads);
}

INSTANTIATE_TEST_SUITE_P(Bytes, RetireSlowBlocks, testing::Values(0, 64 << 10));

/// Backlogs of what a scope of another thread made wait.
class RetireAside : public testing::Test {
 protected:
  static constexpr std::size_t kBacklog = 100'000;
  static constexpr std::size_t kAtOnce = kReclaimWeight / kBlockWeight;  // due when a scope closes

  static void retire_some(std::size_t blocks, std::atomic<int>& freed) {
    const scope inside;
    for (std::size_t i = 0; i < blocks; ++i) {
      retire(&freed, [](void* count) noexcept { ++*static_cast<std::atomic<int>*>(count); });
    }
  }
  RetireAside() {
    reclaim_ready();
    old_ = new_ = 0;
    sitter stuck;
    retire_some(kBacklog, old_);
    EXPECT_EQ(old_, 0);
    stuck.release();
  }
  ~RetireAside() override {
    reclaim_ready();
    EXPECT_EQ(old_, static_cast<int>(kBacklog));
    EXPECT_EQ(retired_blocks(), 0u);
  }

  static inline std::atomic<int> old_{0}, new_{0};
};

TEST_F(RetireAside, WhatIsRetiredNextDoesNotWaitBehindIt) {
  // A scope that closes frees as many as its time allows.
  while (new_ < static_cast<int>(2 * kAtOnce)) retire_some(kAtOnce, new_);
  EXPECT_GT(retired_blocks(), kBacklog / 2);
}

TEST_F(RetireAside, AnotherThreadFreesItAndNothingElse) {
  retire_some(kAtOnce, new_);  // sets aside the rest of the backlog, for which time is too short
  ASSERT_EQ(new_, 0);
  const std::size_t left = kBacklog - static_cast<std::size_t>(old_);
  {
    const scope inside;
    retire_some(kAtOnce / 16, new_);  // too few to be due when it closes, whatever is owed
    std::thread([left] { EXPECT_EQ(reclaim_aside(~std::uint64_t{0}), left); }).join();
  }
  EXPECT_EQ(old_, static_cast<int>(kBacklog));
  EXPECT_EQ(new_, 0);
  std::thread([] { EXPECT_EQ(reclaim_aside(~std::uint64_t{0}), 0u); }).join();
}

struct link {
  link* next;
};
void free_and_retire_next(void* object) noexcept {
  auto* const freed = static_cast<link*>(object);
  if (link* const next = freed->next) {
    const scope inside;
    retire(next, &free_and_retire_next, kReclaimWeight);  // due at once
  }
  delete freed;
  ++reclaimed;
}

// Each link is retired by the reclamation of the one before.
TEST(Retire, AChainOfAnyDepthDoesNotNest) {
  constexpr int kDeep = 300'000;
  reclaimed = 0;
  link* first = nullptr;
  for (int i = 0; i < kDeep; ++i) first = new link{first};
  {
    const scope inside;
    retire(first, &free_and_retire_next, kReclaimWeight);
  }
  reclaim_ready();
  EXPECT_EQ(reclaimed, kDeep);
}

TEST(Retire, BlocksGoInTheOrderInWhichTheyWereRetired) {
  static std::vector<int> order;
  order.clear();
  std::vector<int> objects(1000);
  for (int i = 0; i < 1000; ++i) {
    objects[i] = i;
    retire(&objects[i], [](void* object) noexcept { order.push_back(*static_cast<int*>(object)); });
  }
  reclaim_ready();
  EXPECT_EQ(order, objects);
}

TEST(Retire, BlocksOfAThreadThatEndedAreFreedByOthers) {
  reclaimed = 0;
  int object = 0;
  std::thread([&object] { retire(&object, &count_reclaimed); }).join();
  reclaim_ready();
  EXPECT_EQ(reclaimed, 1);
}

TEST(Retire, TheLongestWaitLastsUntilTheScopeCloses) {
  sitter stuck;
  std::atomic<pid_t> waits{0};
  bool all_closed = false;
  std::thread waiter([&] {
    waits = gettid();
    all_closed = wait_for_open_scopes(~std::uint64_t{0});
  });
  // It naps only where it goes on waiting.
  while (waits == 0 || testing_help::state_of(waits) != 'S') std::this_thread::yield();
  stuck.release();
  waiter.join();
  EXPECT_TRUE(all_closed);
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
