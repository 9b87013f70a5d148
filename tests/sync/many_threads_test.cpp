// Last of its program: every look for open scopes goes through the slots that it leaves.
#include <gtest/gtest.h>

#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

#include "sync/epoch.hpp"
#include "sync/scope.hpp"

namespace isotherm::sync {
namespace {

TEST(ManyThreads, AllHaveAScopeOpenAtOnce) {
  constexpr std::ptrdiff_t kMany = 1100;
  const std::uint64_t epoch = advance_epoch();
  std::latch all_inside(kMany + 1), may_leave(1);
  std::vector<std::thread> threads;
  for (std::ptrdiff_t i = 0; i < kMany; ++i) {
    threads.emplace_back([&] {
      const scope inside;
      all_inside.arrive_and_wait();
      may_leave.wait();
    });
  }
  all_inside.arrive_and_wait();
  advance_epoch();
  EXPECT_EQ(oldest_open_epoch(epoch + 1), epoch);
  may_leave.count_down();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(oldest_open_epoch(epoch + 1), epoch + 1);
}

}  // namespace
}  // namespace isotherm::sync
