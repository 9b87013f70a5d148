// What threads throw reaches who started them, and a pool works on afterwards.
#include "os/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>

#include "os/faults.hpp"

namespace isotherm::os {
namespace {

TEST(Thread, BearsItsName) {
  std::array<char, 16> name{};
  auto started = start_thread("iso-of-a-test", [&] { ::prctl(PR_GET_NAME, name.data()); });
  ASSERT_TRUE(started);
  started->join();
  EXPECT_STREQ(name.data(), "iso-of-a-test");
}

TEST(Pool, RunsEveryPartOnce) {
  thread_pool pool;
  for (const unsigned threads : {1u, 5u, 2u, 9u, 3u}) {
    std::vector<std::atomic<int>> ran(threads);
    pool.run(threads, [&](unsigned t) { ++ran[t]; });
    for (const auto& n : ran) EXPECT_EQ(n.load(), 1);
  }
}

// Where the system gives no thread, or no more, the caller does what is left.
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
