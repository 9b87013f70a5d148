#include "base/sleeping_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <vector>

#include "base/thread_state.hpp"

namespace isotherm::base {
namespace {

TEST(SleepingLock, Excludes) {
  constexpr int kRounds = 20'000;
  sleeping_lock lock;
  int sum = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRounds; ++i) {
          const std::lock_guard held(lock);
          ++sum;
        }
      });
    }
  }
  EXPECT_EQ(sum, 4 * kRounds);
}

TEST(SleepingLock, IsTriedWithoutWaiting) {
  sleeping_lock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(SleepingLock, WhoWaitsSleepsAndAllAreWoken) {
  sleeping_lock lock;
  lock.lock();
  atomic<pid_t> waiting[3];
  int had_it = 0;
  {
    std::vector<std::jthread> threads;
    for (auto& thread : waiting) {
      threads.emplace_back([&] {
        thread.store_release(::gettid());
        const std::lock_guard held(lock);
        ++had_it;
      });
    }
    // A thread that span for ever would never be seen asleep, and the test never end.
    for (auto& thread : waiting) {
      while (thread.load_acquire() == 0 || testing_help::state_of(thread.load_acquire()) != 'S') {
        std::this_thread::yield();
      }
    }
    lock.unlock();
  }
  EXPECT_EQ(had_it, 3);
}

}  // namespace
}  // namespace isotherm::base
