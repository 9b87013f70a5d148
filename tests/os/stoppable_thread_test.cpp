#include "os/stoppable_thread.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <semaphore>

#include "os/faults.hpp"

namespace isotherm::os {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

TEST(StoppableThread, WorksInRoundsUntilItIsStopped) {
  std::counting_semaphore<> rounds{0};
  stoppable_thread worker;
  ASSERT_TRUE(worker.start("iso-of-a-test", [&] {
    do rounds.release();
    while (worker.rest_for(microseconds(10)));
  }));
  for (int i = 0; i < 3; ++i) rounds.acquire();
  worker.stop();
}

TEST(StoppableThread, StopEndsItsRest) {
  std::binary_semaphore rests{0};
  std::atomic<bool> went_on{true};
  stoppable_thread worker;
  ASSERT_TRUE(worker.start("iso-of-a-test", [&] {
    rests.release();
    went_on = worker.rest_for(hours(1));
  }));
  rests.acquire();
  worker.stop();
  EXPECT_FALSE(went_on);
  worker.stop();  // a second time it does nothing
}

TEST(StoppableThread, TheDestructorStopsIt) {
  stoppable_thread worker;
  ASSERT_TRUE(worker.start("iso-of-a-test", [&] {
    while (worker.rest_for(hours(1))) {
    }
  }));
}

TEST(StoppableThread, IsStartedAgainAfterAStop) {
  stoppable_thread worker;
  worker.stop();  // before the first start too
  for (int i = 0; i < 2; ++i) {
    std::counting_semaphore<> rounds{0};
    ASSERT_TRUE(worker.start("iso-of-a-test", [&] {
      while (worker.rest_for(microseconds(10))) rounds.release();
    }));
    rounds.acquire();
    worker.stop();
  }
}

TEST(StoppableThread, TakesNoSignals) {
  sigset_t blocked{};
  stoppable_thread worker;
  ASSERT_TRUE(
      worker.start("iso-of-a-test", [&] { ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked); }));
  worker.stop();
  EXPECT_EQ(::sigismember(&blocked, SIGTERM), 1);
  sigset_t own{};
  ::pthread_sigmask(SIG_BLOCK, nullptr, &own);
  EXPECT_EQ(::sigismember(&own, SIGTERM), 0);
}

TEST(StoppableThread, SaysThatTheSystemGivesNoThread) {
  stoppable_thread worker;
  set_thread_fault(EAGAIN);
  const auto refused = worker.start("iso-of-a-test", [] {});
  set_thread_fault(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EAGAIN);
  worker.stop();
  EXPECT_TRUE(worker.start("iso-of-a-test", [] {}));
}

}  // namespace
}  // namespace isotherm::os
