#include "os/memory/process_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <vector>

namespace isotherm::os {
namespace {

constexpr std::size_t kBytes = std::size_t{32} << 20;

TEST(ProcessMemory, FollowsWhatIsTouched) {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  // Cut out of its neighbours, with which the kernel would merge it.
  ASSERT_EQ(madvise(memory, kBytes, MADV_DONTDUMP), 0);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  EXPECT_EQ(resident_in(begin, begin + kBytes), 0u);
  std::memset(memory, 1, kBytes / 2);
  EXPECT_EQ(resident_in(begin, begin + kBytes), kBytes / 2);
  const process_memory now = read_process_memory();
  EXPECT_GE(now.rss_bytes, kBytes / 4);
  EXPECT_GE(now.rss_peak_bytes, now.rss_bytes);
  munmap(memory, kBytes);
}

TEST(ProcessMemory, TellsWhatMonitoringAsksOfAProcess) {
  const process_facts before = read_process_facts();
  const int opened = dup(0);
  const process_facts now = read_process_facts();
  EXPECT_EQ(now.open_files, before.open_files + 1);
  close(opened);
  EXPECT_GE(now.most_files, now.open_files);
  EXPECT_GT(now.resident_bytes, 0u);
  EXPECT_GT(now.virtual_bytes, now.resident_bytes);
  EXPECT_GT(now.cpu_seconds, 0);
  EXPECT_LE(now.start_seconds, static_cast<double>(time(nullptr)) + 1);
  EXPECT_GT(now.start_seconds, 1e9) << "since 1970, not since the system's start";
  EXPECT_EQ(now.start_seconds, before.start_seconds);
}

TEST(ProcessMemory, AFirstTouchIsNoMajorFault) {
  // The driver's test shows that a page from a disk is one.
  const std::uint64_t before = thread_major_faults();
  std::vector<char> memory(std::size_t{1} << 20, 'x');
  EXPECT_EQ(thread_major_faults(), before);
}

}  // namespace
}  // namespace isotherm::os
