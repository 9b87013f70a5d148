// COLD over a file on disk. One process configures once, so the whole program runs on it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/object_copy.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/mappings_of_cold.hpp"
#include "heap/object.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/files/file.hpp"
#include "os/memory/process_memory.hpp"
#include "os/memory/residency.hpp"
#include "sync/retire.hpp"

// Around fork() jemalloc holds all its locks, and ThreadSanitizer's lock-order detector ends the
// process beyond 64 held by a thread. Only that detector is off, and only in this program; races
// are reported. Without the sanitizer it is not called.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

// Stands before the C library's: a disk that is full, or makes one thread wait.
static int fallocate_refuses_with = 0;
static std::atomic<bool> next_fallocate_waits{false};
static std::binary_semaphore disk_is_asked(0), disk_answers(0);
static std::atomic<int> punches{0};
extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) ++punches;
  if (mode == 0 && fallocate_refuses_with != 0) {
    errno = fallocate_refuses_with;
    return -1;
  }
  if (mode == 0 && next_fallocate_waits.exchange(false)) {
    disk_is_asked.release();
    disk_answers.acquire();
  }
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}

namespace isotherm::heap {
namespace {

constexpr std::size_t kObjectBytes = 2000;

class FileBacked : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    options chosen;
    chosen.range_bytes = std::size_t{1} << 30;
    chosen.cold = *cold_backing::parse("file:" + directory.path());
    const auto configured = configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
  }

  void SetUp() override { fill(32); }
  void fill(std::size_t extents) {
    for (std::size_t i = 0; i < extents * kExtentBytes / kObjectBytes; ++i) {
      void* object = allocate(kind::cold, kObjectBytes);
      ASSERT_NE(object, nullptr);
      std::memset(object, static_cast<int>(i % 255), kObjectBytes);
      objects_.push_back(object);
    }
  }
  void TearDown() override {
    for (void* object : objects_) deallocate(object);
    sync::reclaim_ready();
    EXPECT_TRUE(is_valid());
  }
  /// Writes closed extents, and ends their memory.
  static void page_out(std::uint64_t limit_bytes = ~std::uint64_t{0}) {
    EXPECT_EQ(page_out_cold(hint::pageout, limit_bytes).problem, "");
    sync::reclaim_ready();
  }
  static const os::file& file() { return *heaps().packed(kind::cold).extents().pages().file(); }
  static std::uint64_t disk_bytes() {
    struct stat found{};
    EXPECT_EQ(fstat(file().descriptor(), &found), 0);
    return static_cast<std::uint64_t>(found.st_blocks) * 512;
  }
  /// Returns the bytes of the file that are in the page cache.
  static std::uint64_t cached_bytes() {
    struct stat found{};
    EXPECT_EQ(fstat(file().descriptor(), &found), 0);
    const auto bytes = static_cast<std::size_t>(found.st_size);
    void* const seen = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file().descriptor(), 0);
    EXPECT_NE(seen, MAP_FAILED);
    const auto resident = os::resident_bytes(seen, bytes);
    munmap(seen, bytes);
    EXPECT_TRUE(resident);
    return resident.value_or(0);
  }

  std::vector<void*> objects_;
};

// A use of an object that lies in two pages would be two reads of the disk.
TEST_F(FileBacked, SmallObjectsLieInOnePage) {
  for (const std::size_t bytes : {100UL, 1000UL}) {
    for (int i = 0; i < 1000; ++i) {
      void* const object = allocate(kind::cold, bytes);
      const auto begin = reinterpret_cast<std::uintptr_t>(object) - kHeaderBytes;
      EXPECT_EQ(begin / base::kPageBytes, (begin + kHeaderBytes + bytes - 1) / base::kPageBytes);
      deallocate(object);
    }
  }
}

TEST_F(FileBacked, WhatHasLeftDramIsFreedWithoutBeingRead) {
  const auto big = allocate(kind::cold, 3 * kExtentBytes);
  ASSERT_NE(big, nullptr);
  const usage all = usage_of(kind::cold, residency::left_out);
  page_out();
  const std::uint64_t reads = cold_reads().reads;
  const std::uint64_t left = usage_of(kind::cold).resident_bytes;
  // Every other one, so that no extent goes as a whole.
  std::vector<void*> kept;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    if (i % 2 == 0) {
      kept.push_back(objects_[i]);
    } else {
      EXPECT_EQ(room_of(objects_[i]), kObjectBytes + 8) << "up to the next multiple of 16, less 8";
      deallocate(objects_[i]);
    }
  }
  EXPECT_EQ(usage_of(kind::cold).resident_bytes, left);
  EXPECT_EQ(cold_reads().reads, reads);
  EXPECT_EQ(room_of(big), 3 * kExtentBytes);
  deallocate(big);
  EXPECT_LE(usage_of(kind::cold).resident_bytes, left);
  const usage rest = usage_of(kind::cold, residency::left_out);
  EXPECT_EQ(all.objects - rest.objects, objects_.size() - kept.size() + 1);
  EXPECT_EQ(all.bytes - rest.bytes,
            (objects_.size() - kept.size()) * (kObjectBytes + 8) + 3 * kExtentBytes);
  objects_ = std::move(kept);
}

TEST_F(FileBacked, WhatLeavesTakesNoDramAtAll) {
  ASSERT_GE(usage_of(kind::cold).resident_bytes, 30 * kExtentBytes);
  const std::uint64_t before = os::read_process_memory().rss_bytes;
  page_out();
  EXPECT_LE(usage_of(kind::cold).resident_bytes, 2 * kExtentBytes) << "the open extent stays";
  EXPECT_LE(os::read_process_memory().rss_bytes, before - 28 * kExtentBytes);
  // Nor does the page cache have it, before and after it was read.
  for (int i = 0; i < 2; ++i) {
    EXPECT_LE(cached_bytes(), 2 * base::kPageBytes);
    for (std::size_t k = 0; k < objects_.size(); k += 97) {
      if (is_out(objects_[k])) ASSERT_TRUE(object_copy::read(objects_[k]));
    }
  }
}

TEST_F(FileBacked, EveryTakenExtentHasRoomOnTheDiskAndFreedOnesHaveNone) {
  const std::uint64_t full = disk_bytes();
  const std::uint64_t held = usage_of(kind::cold, residency::left_out).extent_bytes;
  EXPECT_GE(full, held) << "before anything is written";
  // Half of them were written.
  page_out(16 * kExtentBytes);
  EXPECT_EQ(disk_bytes(), full);
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  sync::reclaim_ready();
  EXPECT_LE(disk_bytes(), full - 30 * kExtentBytes);
  EXPECT_LE(usage_of(kind::cold, residency::left_out).extent_bytes, held - 30 * kExtentBytes);
  EXPECT_LE(usage_of(kind::cold).resident_bytes, 2 * kExtentBytes);
  fill(32);
  EXPECT_GE(disk_bytes(), full - 2 * kExtentBytes);
}

/// Threads that empty extents leave them to another.
struct leaving_emptied {
  leaving_emptied() { treat_emptied_cold(emptied::left); }
  ~leaving_emptied() { treat_emptied_cold(emptied::given_back); }
  leaving_emptied(const leaving_emptied&) = delete;
  leaving_emptied& operator=(const leaving_emptied&) = delete;
};

// In some file systems to give space back waits for all reads of the file that are under way.
TEST_F(FileBacked, WhoeverEmptiesAnExtentNeedNotWaitForTheDisk) {
  const leaving_emptied now;
  void* const large = allocate(kind::cold, 3 * kExtentBytes);
  const std::uint64_t before = usage_of(kind::cold, residency::left_out).extent_bytes;
  const std::uint64_t on_disk = disk_bytes();
  page_out(16 * kExtentBytes);  // some were written, and some were not
  punches = 0;
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  deallocate(large);
  EXPECT_EQ(punches, 0);
  EXPECT_TRUE(is_valid());
  fill(2);
  EXPECT_EQ(punches, 0) << "there is room beside what was emptied";
  EXPECT_GE(usage_of(kind::cold, residency::left_out).extent_bytes, before);
  EXPECT_GE(give_back_emptied_cold(), 30 * kExtentBytes);
  EXPECT_GE(punches, 1);
  EXPECT_LE(punches, 8) << "neighbours go together";
  EXPECT_LE(usage_of(kind::cold, residency::left_out).extent_bytes, before - 28 * kExtentBytes);
  EXPECT_LE(disk_bytes(), on_disk - 28 * kExtentBytes);
  EXPECT_TRUE(is_valid());
  EXPECT_EQ(give_back_emptied_cold(), 0U);
}

TEST_F(FileBacked, WhatIsLeftIsGivenBackByWhoeverChangesThat) {
  const std::uint64_t before = usage_of(kind::cold, residency::left_out).extent_bytes;
  {
    const leaving_emptied now;
    for (void* object : objects_) deallocate(object);
    objects_.clear();
    EXPECT_EQ(usage_of(kind::cold, residency::left_out).extent_bytes, before);
  }
  EXPECT_LE(usage_of(kind::cold, residency::left_out).extent_bytes, before - 30 * kExtentBytes);
  fill(2);
  punches = 0;
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  EXPECT_GE(punches, 1);
}

TEST_F(FileBacked, WhereThereIsNoRoomWhatWasEmptiedIsGivenBack) {
  const leaving_emptied now;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{64 * kExtentBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  while (void* object = allocate(kind::cold, kObjectBytes)) objects_.push_back(object);
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  void* const object = allocate(kind::cold, kObjectBytes);
  void* const large = allocate(kind::cold, 3 * kExtentBytes);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_NE(object, nullptr);
  ASSERT_NE(large, nullptr);
  deallocate(object);
  deallocate(large);
}

TEST_F(FileBacked, AFullDiskRefusesAndDoesNotKill) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{48 * kExtentBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::uint64_t refused = refused_allocations(kind::cold);
  std::vector<void*> filling;
  while (void* object = allocate(kind::cold, 100'000)) {
    std::memset(object, 1, 100'000);
    filling.push_back(object);
    ASSERT_LT(filling.size(), 1000U) << "the limit is never met";
  }
  EXPECT_EQ(refused_allocations(kind::cold), refused + 1);
  EXPECT_TRUE(is_valid());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  void* object = allocate(kind::cold, 100'000);
  EXPECT_NE(object, nullptr) << "space again, service again";
  filling.push_back(object);
  for (void* each : filling) deallocate(each);
}

TEST_F(FileBacked, ACoreDumpLeavesOutCold) {
  int mappings = 0;
  testing_help::for_each_fact_of_cold([&mappings](const std::string& name, std::istream& value) {
    if (name != "VmFlags:") return;
    ++mappings;
    std::string flag;
    while (flag != "dd" && value >> flag) {
    }
    EXPECT_EQ(flag, "dd") << "MADV_DONTDUMP";
  });
  EXPECT_GT(mappings, 0);
}

TEST_F(FileBacked, ADiskWithoutSpaceRefusesWithItsReasonUntilThereIsSome) {
  fallocate_refuses_with = ENOSPC;
  std::vector<void*> filling;
  while (void* object = allocate(kind::cold, 100'000)) {
    filling.push_back(object);
    ASSERT_LT(filling.size(), 100U) << "nothing is left but the open extent's room";
  }
  EXPECT_EQ(cold_refusal_code(), ENOSPC);
  fallocate_refuses_with = 0;
  void* object = allocate(kind::cold, 100'000);
  EXPECT_NE(object, nullptr) << "space again, service again";
  filling.push_back(object);
  for (void* each : filling) deallocate(each);
}

TEST_F(FileBacked, NobodyWaitsForADiskThatAnotherThreadAsks) {
  next_fallocate_waits = true;
  std::vector<void*> filling;
  std::jthread waiting([&filling] {
    while (next_fallocate_waits) filling.push_back(allocate(kind::cold, kObjectBytes));
  });
  disk_is_asked.acquire();
  const std::uint64_t held = usage_of(kind::cold, residency::left_out).extent_bytes;
  fill(2);
  for (std::size_t i = 0; i < 4 * kExtentBytes / kObjectBytes; ++i) deallocate(objects_[i]);
  objects_.erase(objects_.begin(), objects_.begin() + 4 * kExtentBytes / kObjectBytes);
  EXPECT_LT(usage_of(kind::cold, residency::left_out).extent_bytes, held + 2 * kExtentBytes);
  disk_answers.release();
  waiting.join();
  for (void* object : filling) deallocate(object);
}

/// Exit status of `body` run in a fork child.
template <class F>
int in_child(F body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST_F(FileBacked, AForkChildNeitherGrowsNorPunchesTheSharedFile) {
  page_out(16 * kExtentBytes);
  const std::uint64_t before = disk_bytes();
  const int status = in_child([&] {
    if (allocate(kind::cold, 10) != nullptr) return 1;
    if (allocate(kind::newborn, 10) == nullptr || allocate(kind::hot, 10) == nullptr) return 2;
    for (void* object : objects_) deallocate(object);
    if (page_out_cold(hint::pageout, ~std::uint64_t{0}).problem.empty()) return 3;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(disk_bytes(), before);
  for (std::size_t i = 0; i < objects_.size(); i += 31) {
    if (!is_out(objects_[i])) {
      ASSERT_EQ(static_cast<unsigned char*>(objects_[i])[0], i % 255);
      continue;
    }
    const auto copy = object_copy::read(objects_[i]);
    ASSERT_TRUE(copy);
    ASSERT_EQ(static_cast<const unsigned char*>(copy->object())[0], i % 255);
  }
}

}  // namespace
}  // namespace isotherm::heap
