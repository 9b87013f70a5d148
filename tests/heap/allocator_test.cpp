#include "heap/allocator.hpp"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>
#include <vector>

namespace isotherm::heap {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;

/// A thread that leaves so many free pages in its arena and then allocates nothing any more.
class idle_thread {
 public:
  idle_thread() { has_freed_.acquire(); }
  ~idle_thread() { may_end_.release(); }
  idle_thread(const idle_thread&) = delete;
  idle_thread& operator=(const idle_thread&) = delete;

 private:
  std::binary_semaphore has_freed_{0}, may_end_{0};
  std::jthread thread_{[this] {
    std::vector<std::vector<char>>(1024, std::vector<char>(kBytes / 1024, 'x')).clear();
    has_freed_.release();
    may_end_.acquire();
  }};
};

TEST(Allocator, FreePagesAreCountedUntilTheyArePurged) {
  ASSERT_TRUE(is_allocator_ours());
  purge_allocator();
  EXPECT_LT(allocator_free_bytes(), kBytes / 2);
  const idle_thread idle;
  EXPECT_GT(allocator_free_bytes(), kBytes / 2);
  EXPECT_GT(allocator_overhead_bytes(), kBytes / 2);
  purge_allocator();
  EXPECT_LT(allocator_free_bytes(), kBytes / 2);
}

TEST(Allocator, FreePagesGoBackThoughNobodyAllocates) {
  const idle_thread idle;
  EXPECT_GT(allocator_free_bytes(), kBytes / 2);
  ASSERT_TRUE(give_free_pages_back(std::chrono::milliseconds(1)));
  while (allocator_free_bytes() > kBytes / 2) std::this_thread::yield();
}

}  // namespace
}  // namespace isotherm::heap
