// Exceptions of threads reach the thread that started them, and a pool works on afterwards.
#include "os/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>

#include "os/faults.hpp"
#include "os/scheduling.hpp"

namespace isotherm::os {
namespace {

TEST(Thread, BearsItsName) {
  std::array<char, 16> name{};
  auto started = start_thread("iso-of-a-test", [&] { ::prctl(PR_GET_NAME, name.data()); });
  ASSERT_TRUE(started);
  started->join();
  EXPECT_STREQ(name.data(), "iso-of-a-test");
}

// It asks for slices longer than the kernel's own, where the kernel lets them be chosen, and keeps
// the rest of what it has from the thread that started it.
TEST(Thread, ThatIsToBePreemptedAsksForLongSlices) {
  const int higher = std::min(read_scheduling(0).nice + 3, 19);
  scheduling_attributes usual{};
  scheduling_attributes preempted{};
  auto outer = start_thread("iso-of-a-test", [&] {
    ::setpriority(PRIO_PROCESS, 0, higher);
    usual = read_scheduling(0);
    auto inner = start_thread(
        "iso-of-a-test", [&] { preempted = read_scheduling(0); }, scheduling::preempted);
    if (inner) inner->join();
  });
  ASSERT_TRUE(outer);
  outer->join();
  ASSERT_NE(usual.size, 0u) << "the system forbids to ask how a thread is scheduled";
  ASSERT_EQ(usual.nice, higher);
  EXPECT_EQ(preempted.nice, higher);
  EXPECT_EQ(preempted.policy, usual.policy);
  EXPECT_EQ(preempted.runtime_ns, usual.runtime_ns == 0 ? 0U : 10'000'000U);
}

TEST(Pool, RunsEveryPartOnce) {
  thread_pool pool;
  for (const unsigned threads : {1u, 5u, 2u, 9u, 3u}) {
    std::vector<std::atomic<int>> ran(threads);
    pool.run(threads, [&](unsigned t) { ++ran[t]; });
    for (const auto& n : ran) EXPECT_EQ(n.load(), 1);
  }
}

// The caller runs the parts for which the system gives no thread, or no more.
TEST(Pool, RunsEveryPartWithoutThreads) {
  thread_pool pool;
  for (const bool fails : {true, false, true}) {
    set_thread_fault(fails ? EAGAIN : 0);
    for (const unsigned threads : {2u, 5u, 9u}) {
      std::vector<std::atomic<int>> ran(threads);
      pool.run(threads, [&](unsigned t) { ++ran[t]; });
      for (const auto& n : ran) EXPECT_EQ(n.load(), 1);
    }
    set_thread_fault(0);
  }
}

TEST(Pool, AnExceptionOfAnyPartComesOutWhenAllHaveEnded) {
  thread_pool pool;
  for (unsigned bad = 0; bad < 4; ++bad) {
    std::atomic<int> ended{0};
    EXPECT_THROW(pool.run(4,
                          [&](unsigned t) {
                            ++ended;
                            if (t == bad) throw std::runtime_error("part");
                          }),
                 std::runtime_error);
    EXPECT_EQ(ended.load(), 4);
    pool.run(4, [&](unsigned) { ++ended; });
    EXPECT_EQ(ended.load(), 8);
  }
}

}  // namespace
}  // namespace isotherm::os
