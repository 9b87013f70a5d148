// Dekker's litmus test: with an asymmetric fence the two sides never both read the old value.
#include "os/membarrier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "base/atomic.hpp"

namespace isotherm::os {
namespace {

TEST(Membarrier, RegistrationIsIdempotent) {
  const bool first = register_membarrier();
  EXPECT_EQ(register_membarrier(), first);
  EXPECT_EQ(has_membarrier(), first);
}

TEST(Membarrier, StoreThenLoadIsNeverReorderedOnBothSides) {
  const bool asymmetric = register_membarrier();
  base::atomic<int> fast{0};
  base::atomic<int> slow{0};
  int seen_by_fast = 0;
  int seen_by_slow = 0;
  int both_missed = 0;
  constexpr int kRounds = 20'000;
  std::barrier round(2);
  std::thread fast_side([&] {
    for (int i = 0; i < kRounds; ++i) {
      round.arrive_and_wait();
      fast.store_relaxed(1);
      if (asymmetric) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
      } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
      seen_by_fast = slow.load_relaxed();
      round.arrive_and_wait();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    fast.store_relaxed(0);
    slow.store_relaxed(0);
    round.arrive_and_wait();
    slow.store_relaxed(1);
    membarrier();
    seen_by_slow = fast.load_relaxed();
    round.arrive_and_wait();
    both_missed += seen_by_fast == 0 && seen_by_slow == 0;
  }
  fast_side.join();
  EXPECT_EQ(both_missed, 0);
}

}  // namespace
}  // namespace isotherm::os
