// --maxmemory: what it refuses, and how often it asks how much there is.
#include "guide/in_cold.hpp"
#include "guide/object.hpp"
#include "heap/usage.hpp"
#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

TEST_F(Commands, MaxmemoryRefusesWhatTakesMemory) {
  run({"SET", "k", "v"});
  maxmemory_ = 100;
  used_ = 101;
  for (int i = 0; i < 10000; ++i) db_.memory().note_written(1024);
  EXPECT_EQ(run({"SET", "k", "w"}), "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  EXPECT_EQ(run({"GET", "k"}), "$1\r\nv\r\n");
  EXPECT_EQ(run({"DEL", "k"}), ":1\r\n");
  used_ = 100;
  ++now_;
  EXPECT_EQ(run({"SET", "k", "w"}), "+OK\r\n");
}

TEST_F(Commands, WhatTheIndexHasNoMemoryForIsNotBlamedOnMaxmemory) {
  run({"SET", "k", "v"});
  index_.fill_memory();
  const std::string no_memory = "-OOM no memory for what the command needs\r\n";
  EXPECT_EQ(run({"SET", "k", "w"}), no_memory);
  EXPECT_EQ(run({"APPEND", "k", "w"}), no_memory);
  EXPECT_EQ(run({"SETRANGE", "k", "7", "w"}), no_memory);
  EXPECT_EQ(run({"INCR", "n"}), no_memory);
  EXPECT_EQ(run({"GET", "k"}), "$1\r\nv\r\n");
}

TEST(MemoryMeter, RefusingAsksOnceAMillisecond) {
  int asked = 0;
  std::uint64_t used = 101;
  memory_meter meter([&] { return ++asked, used; });
  asked = 0;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(meter.is_over(100, 7));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(meter.is_over(101, 7));  // a limit that was raised holds at once
  used = 100;
  EXPECT_FALSE(meter.is_over(100, 8));
  EXPECT_EQ(asked, 2);
  used = 103;
  for (int i = 0; i < 200; ++i) meter.note_written(1024);
  EXPECT_TRUE(meter.is_over(100, 8));  // what was written since is looked at at once
  EXPECT_EQ(asked, 3);
}

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

bool near(std::uint64_t a, std::uint64_t b) {  // other memory comes and goes
  return a < b + kMiB && b < a + kMiB;
}

TEST(AllocatedBytes, CountsAllOfNewAndHot) {
  const std::uint64_t before = allocated_bytes();
  const owned<bytes> recent = make_bytes_in(heap::kind::newborn, std::size_t{8} << 20);
  EXPECT_PRED2(near, allocated_bytes(), before + 8 * kMiB);
  const owned<bytes> hot = make_bytes_in(heap::kind::hot, std::size_t{4} << 20);
  EXPECT_PRED2(near, allocated_bytes(), before + 12 * kMiB);
}

TEST(AllocatedBytes, CountsOfColdWhatIsInDram) {
  const auto all = [] { return heap::usage_of(heap::kind::cold, heap::residency::left_out).bytes; };
  note_cold({});
  const std::uint64_t before = allocated_bytes();
  const owned<bytes> first = testing_help::bytes_in_cold(std::string(std::size_t{8} << 20, 'x'));
  ASSERT_TRUE(first && first.where() == heap::kind::cold);
  EXPECT_PRED2(near, allocated_bytes(), before + 8 * kMiB);
  note_cold({.objects = 1, .bytes = all(), .resident_bytes = all() - 6 * kMiB});
  EXPECT_PRED2(near, allocated_bytes(), before + 2 * kMiB);
  {
    const owned<bytes> second =
        testing_help::bytes_in_cold(std::string(std::size_t{16} << 20, 'x'));
    EXPECT_PRED2(near, allocated_bytes(), before + 18 * kMiB);  // all of it, until the next look
  }
  EXPECT_PRED2(near, allocated_bytes(), before + 2 * kMiB);
  note_cold({.objects = 1, .bytes = all(), .resident_bytes = all() + 6 * kMiB});  // dead bytes too
  EXPECT_PRED2(near, allocated_bytes(), before + 8 * kMiB);
}

}  // namespace
}  // namespace isotherm::store::testing
