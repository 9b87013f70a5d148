#include "heap/packed/holes.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "heap/header.hpp"
#include "heap/packed/extent.hpp"

namespace isotherm::heap {
namespace {

constexpr std::size_t kUnits = 4;
struct alignas(16) block {
  std::array<std::byte, kUnits * kUnitBytes + 16> memory;
  void* object() { return memory.data() + 16; }
};

bool always() { return true; }

/// Whether a thread of this process waits for something.
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'S';
}

// The cache asks under the lock of a flush which extents were chosen to lose their pages.
TEST(HoleCache, KeepsNothingThatIsNotWorthIt) {
  block freed;
  hole_cache cache;
  EXPECT_FALSE(cache.keep(freed.object(), kUnits, 0, [] { return false; }));
  EXPECT_EQ(cache.take(kUnits, 0), nullptr);
}

// Pages in which nothing lives go back (dead_pages.cpp): a thread that has taken a hole has not
// written to it yet.
TEST(HoleCache, WhatIsTakenLooksLive) {
  block freed;
  write_header(freed.object(), {kFreedMark, 60});
  hole_cache cache;
  ASSERT_TRUE(cache.keep(freed.object(), kUnits, 0, always));
  EXPECT_EQ(racy_header(freed.object()).mark, kFreedMark);
  ASSERT_EQ(cache.take(kUnits, 0), freed.object());
  EXPECT_EQ(racy_header(freed.object()).mark, kLiveMark);
  EXPECT_EQ(racy_header(freed.object()).bytes, 60u);
}

// Thousands of holes are released at a window's end: no other thread waits meanwhile.
TEST(HoleCache, AreGivenUpOutsideOfTheLocks) {
  std::vector<block> blocks(100);
  hole_cache cache;
  for (block& each : blocks) ASSERT_TRUE(cache.keep(each.object(), kUnits, 0, always));
  block freed;
  std::size_t released = 0;
  cache.flush([&](void*, std::size_t units) {
    EXPECT_EQ(units, kUnits);
    EXPECT_EQ(cache.take(kUnits, 0), nullptr) << "all went at once";
    if (released++ > 0) return;
    EXPECT_TRUE(cache.keep(freed.object(), kUnits, 0, always));
    EXPECT_EQ(cache.take(kUnits, 0), freed.object());
  });
  EXPECT_EQ(released, blocks.size());
}

// Pages are freed after a flush (dead_pages.cpp): no other thread may read a hole's link then.
TEST(HoleCache, AFlushEndsAfterThoseThatBeganBeforeIt) {
  block freed;
  hole_cache cache;
  ASSERT_TRUE(cache.keep(freed.object(), kUnits, 0, always));
  std::atomic<pid_t> second{0};
  std::atomic<bool> first_ended{false}, second_ended{false};
  std::thread other;
  cache.flush([&](void*, std::size_t) {
    other = std::thread([&] {
      second = ::gettid();
      cache.flush([](void*, std::size_t) {});
      EXPECT_TRUE(first_ended);
      second_ended = true;
    });
    while (!second_ended && (second == 0 || !is_asleep(second))) std::this_thread::yield();
    first_ended = true;
  });
  other.join();
}

}  // namespace
}  // namespace isotherm::heap
