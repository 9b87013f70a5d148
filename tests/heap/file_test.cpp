// COLD over a file on disk. One process configures once, so the whole program runs on it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/mappings_of_cold.hpp"
#include "heap/object.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

// Around fork() jemalloc holds all its locks, and ThreadSanitizer's lock-order detector ends the
// process beyond 64 held by a thread. Only that detector is off, and only in this program; races
// are reported. Without the sanitizer nobody calls this.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

// These stand before the C library's: a disk that is full, or makes one thread wait, or loses what
// it is given once, a kernel that keeps pages, and how much of the heap is walked.
static bool next_write_back_fails = false;
static std::function<void(std::uint64_t offset)> before_write_back;
extern "C" int sync_file_range(int file, off64_t offset, off64_t bytes, unsigned flags) {
  if (before_write_back) before_write_back(static_cast<std::uint64_t>(offset));
  // All pages are taken for written after a failure, and it is told once.
  const bool fails = std::exchange(next_write_back_fails, false);
  const long done = fails ? syscall(SYS_sync_file_range, file, 0, 0, flags)
                          : syscall(SYS_sync_file_range, file, offset, bytes, flags);
  if (!fails) return static_cast<int>(done);
  errno = EIO;
  return -1;
}
// From there on a disk gives zeros for what it has taken.
static std::optional<std::uint64_t> disk_has_zeros_from;
extern "C" ssize_t pread(int file, void* to, std::size_t bytes, off_t offset) {
  const auto got = syscall(SYS_pread64, file, to, bytes, offset);
  const auto end = static_cast<std::uint64_t>(offset + got);
  const bool asks_disk = (fcntl(file, F_GETFL) & O_DIRECT) != 0;
  if (asks_disk && got > 0 && disk_has_zeros_from && end > *disk_has_zeros_from) {
    std::memset(to, 0, static_cast<std::size_t>(got));
  }
  return got;
}
static int fallocate_refuses_with = 0;
static std::atomic<bool> next_fallocate_waits{false};
static std::binary_semaphore disk_is_asked(0), disk_answers(0);
static std::size_t bytes_walked = 0;
static std::vector<std::uintptr_t> paged_out;
static bool kernel_keeps_pages = false;
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
extern "C" int madvise(void* begin, std::size_t bytes, int advice) noexcept {
  if (advice == MADV_PAGEOUT) {
    paged_out.push_back(reinterpret_cast<std::uintptr_t>(begin));
    if (kernel_keeps_pages) return 0;
  }
  return static_cast<int>(syscall(SYS_madvise, begin, bytes, advice));
}
extern "C" int mincore(void* begin, std::size_t bytes, unsigned char* pages) noexcept {
  bytes_walked += bytes;
  return static_cast<int>(syscall(SYS_mincore, begin, bytes, pages));
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
    EXPECT_TRUE(is_valid());
  }

  /// Of the extents that are closed; a page on its way to the disk stays until it is there.
  std::uint64_t resident_and_closed() const {
    std::set<std::uintptr_t> extents;
    for (void* object : objects_) {
      extents.insert(reinterpret_cast<std::uintptr_t>(object) / kExtentBytes * kExtentBytes);
    }
    extents.erase(reinterpret_cast<std::uintptr_t>(objects_.back()) / kExtentBytes * kExtentBytes);
    std::uint64_t bytes = 0;
    std::vector<unsigned char> pages(kExtentBytes / 4096);
    for (const std::uintptr_t extent : extents) {
      EXPECT_EQ(mincore(reinterpret_cast<void*>(extent), kExtentBytes, pages.data()), 0);
      for (const unsigned char page : pages) bytes += (page & 1) * std::uint64_t{4096};
    }
    return bytes;
  }

  std::vector<void*> objects_;
};

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

TEST_F(FileBacked, ClosedExtentsLeaveDramAndComeBackWithTheirBytes) {
  const std::uint64_t before = usage_of(kind::cold).resident_bytes;
  ASSERT_GE(before, 30 * kExtentBytes);
  const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
  EXPECT_EQ(report.problem, "");
  EXPECT_GE(report.bytes_asked, 30 * kExtentBytes);
  EXPECT_LE(usage_of(kind::cold).resident_bytes, 2 * kExtentBytes)
      << "at most the open extent stays";
  for (std::size_t i = 0; i < objects_.size(); i += 97) {
    const auto* at = static_cast<const unsigned char*>(objects_[i]);
    ASSERT_EQ(std::count(at, at + kObjectBytes, i % 255), static_cast<long>(kObjectBytes));
  }
}

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

TEST_F(FileBacked, TellsThatPagesStayOnlyWhenMuchWasAskedForInARow) {
  kernel_keeps_pages = true;
  std::uint64_t asked = 0;
  std::string problem;
  while (problem.empty() && asked < 128 * kExtentBytes) {
    const page_out_report report = page_out_cold(hint::pageout, 8 * kExtentBytes);
    ASSERT_GT(report.bytes_asked, 0U);
    asked += report.bytes_asked;
    problem = report.problem;
  }
  kernel_keeps_pages = false;
  EXPECT_NE(problem, "");
  EXPECT_GE(asked, 64 * kExtentBytes);
  EXPECT_LE(asked, 72 * kExtentBytes);
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).problem, "") << "it is over";
  kernel_keeps_pages = true;
  static_cast<void>(*static_cast<volatile char*>(objects_[objects_.size() / 2]));
  note_cold_use(objects_[objects_.size() / 2]);
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).problem, "") << "one page, for a moment";
  kernel_keeps_pages = false;
}

TEST_F(FileBacked, AnExtentIsAskedForAgainOnlyWhenPagesCameBack) {
  page_out_cold(hint::pageout, kNoLimit);
  std::uint64_t stayed = resident_and_closed();
  EXPECT_LE(page_out_cold(hint::pageout, kNoLimit).bytes_asked, stayed);
  stayed = resident_and_closed();
  static_cast<void>(*static_cast<volatile char*>(objects_[objects_.size() / 2]));
  note_cold_use(objects_[objects_.size() / 2]);
  const page_out_report again = page_out_cold(hint::pageout, kNoLimit);
  EXPECT_GT(again.bytes_asked, 0U);
  EXPECT_LE(again.bytes_asked, stayed + 4 * 4096U)
      << "a fault brings its own page, not its neighbours";
}

TEST_F(FileBacked, TheLimitHoldsAndTheNextCallGoesOn) {
  std::uint64_t sum = 0;
  for (int call = 0; call < 4; ++call) {
    const page_out_report report = page_out_cold(hint::pageout, 8 * kExtentBytes);
    EXPECT_LE(report.bytes_asked, 8 * kExtentBytes);
    sum += report.bytes_asked;
  }
  EXPECT_GE(sum, 28 * kExtentBytes);
}

TEST_F(FileBacked, PageOutStopsWithinAMebibyteOfBeingTold) {
  int asked = 0;
  const page_out_report report =
      page_out_cold(hint::pageout, kNoLimit, [&] { return ++asked > 3; });
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(report.bytes_asked, 3 * kExtentBytes);
  EXPECT_EQ(report.problem, "");
  EXPECT_GE(page_out_cold(hint::pageout, kNoLimit).bytes_asked, 25 * kExtentBytes);
}

TEST_F(FileBacked, TheNextCallBeginsWithWhatTheStoppedOneLeft) {
  const std::uintptr_t begin = range_of(kind::cold).begin;
  do {  // up to one of the lowest extents: the calls go round
    page_out_cold(hint::pageout, kExtentBytes);
  } while (paged_out.back() >= begin + 8 * kExtentBytes);
  int asked = 0;
  page_out_cold(hint::pageout, 8 * kExtentBytes, [&] { return ++asked > 3; });
  const std::uintptr_t last = paged_out.back();
  asked = 0;
  page_out_cold(hint::pageout, 8 * kExtentBytes, [&] { return ++asked > 1; });
  EXPECT_EQ(paged_out.back(), last + kExtentBytes);
}

TEST_F(FileBacked, NoHintAsksForNothing) {
  EXPECT_EQ(page_out_cold(hint::none, kNoLimit).bytes_asked, 0U);
}

TEST_F(FileBacked, TheColdHintIsGivenOnce) {
  const page_out_report first = page_out_cold(hint::cold, kNoLimit);
  EXPECT_EQ(first.problem, "");
  EXPECT_GT(first.bytes_asked, 0U);
  EXPECT_EQ(page_out_cold(hint::cold, kNoLimit).bytes_asked, 0U);
}

TEST_F(FileBacked, TheColdHintIsGivenAgainAfterAUse) {
  page_out_cold(hint::cold, kNoLimit);
  note_cold_use(objects_[objects_.size() / 2]);
  const std::uint64_t after_use = page_out_cold(hint::cold, kNoLimit).bytes_asked;
  EXPECT_GT(after_use, 0U);
  EXPECT_LE(after_use, kExtentBytes) << "only where the object lies";
}

TEST_F(FileBacked, WhatHasLeftDramIsFreedWithoutBeingRead) {
  const auto big = allocate(kind::cold, 3 * kExtentBytes);
  ASSERT_NE(big, nullptr);
  const usage all = usage_of(kind::cold, residency::left_out);
  page_out_cold(hint::pageout, kNoLimit);
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
  EXPECT_EQ(room_of(big), 3 * kExtentBytes);
  deallocate(big);
  EXPECT_LE(usage_of(kind::cold).resident_bytes, left);
  const usage rest = usage_of(kind::cold, residency::left_out);
  EXPECT_EQ(all.objects - rest.objects, objects_.size() - kept.size() + 1);
  EXPECT_EQ(all.bytes - rest.bytes,
            (objects_.size() - kept.size()) * (kObjectBytes + 8) + 3 * kExtentBytes);
  objects_ = std::move(kept);
}

TEST_F(FileBacked, AUseThatNobodyReportedIsFoundInTurn) {
  fill(128);  // more than one call looks at again
  page_out_cold(hint::pageout, kNoLimit);
  static_cast<void>(*static_cast<volatile char*>(objects_[objects_.size() * 9 / 10]));
  std::uint64_t sum = 0;
  for (int call = 0; call < 16; ++call) sum += page_out_cold(hint::pageout, kNoLimit).bytes_asked;
  EXPECT_GT(sum, 0U);
}

TEST_F(FileBacked, WhatIsOutAndUntouchedIsNotWalkedAgain) {
  fill(128);
  // Pages that another process's sync() is writing stay, and leave with a later call.
  for (int calls = 0; calls < 100; ++calls) {
    bytes_walked = 0;
    page_out_cold(hint::pageout, kNoLimit);
    if (bytes_walked <= 20 * kExtentBytes) break;
  }
  EXPECT_LE(bytes_walked, 20 * kExtentBytes) << "of 160";
}

TEST_F(FileBacked, WhatTheSystemHasTakenByItselfIsFoundOut) {
  const auto extent =
      reinterpret_cast<std::uintptr_t>(objects_[objects_.size() / 2]) / kExtentBytes * kExtentBytes;
  auto* const begin = reinterpret_cast<std::byte*>(extent);
  const backing& pages = heaps().packed(kind::cold).extents().pages();
  ASSERT_TRUE(pages.clean(extent - range_of(kind::cold).begin, kExtentBytes));
  ASSERT_EQ(syscall(SYS_madvise, begin, kExtentBytes, MADV_PAGEOUT), 0);
  EXPECT_FALSE(is_out(objects_[objects_.size() / 2])) << "nobody has told";
  paged_out.clear();
  page_out_cold(hint::pageout, kNoLimit);
  EXPECT_TRUE(is_out(objects_[objects_.size() / 2]));
  EXPECT_THAT(paged_out, testing::Not(testing::Contains(extent))) << "it is not there";
}

// A page alone; what is beside it stays.
TEST_F(FileBacked, APageThatTheSystemHasTakenIsFoundOut) {
  const std::size_t middle = objects_.size() / 2;
  const base::page_span where = heaps().cold().place_of(objects_[middle]);
  const backing& pages = heaps().packed(kind::cold).extents().pages();
  ASSERT_TRUE(pages.clean(where.offset, where.bytes));
  std::byte* const begin = heaps().packed(kind::cold).extents().begin() + where.offset;
  ASSERT_EQ(syscall(SYS_madvise, begin, where.bytes, MADV_PAGEOUT), 0);
  // Looks at it, and is then told to stop.
  page_out_cold(hint::pageout, kNoLimit, [] { return true; });
  EXPECT_TRUE(is_out(objects_[middle]));
  EXPECT_FALSE(is_out(objects_[middle - 8]));
  EXPECT_FALSE(is_out(objects_[middle + 8]));
}

TEST_F(FileBacked, PagesAreOnTheDiskBeforeReadersLookThere) {
  std::vector<bool> was_out;
  before_write_back = [&](std::uint64_t offset) {
    for (const void* each : objects_) {
      const auto at = reinterpret_cast<std::uintptr_t>(each) - range_of(kind::cold).begin;
      if (at / kExtentBytes == offset / kExtentBytes) was_out.push_back(is_out(each));
    }
  };
  page_out_cold(hint::pageout, kNoLimit);
  before_write_back = nullptr;
  EXPECT_GE(was_out.size(), objects_.size() * 9 / 10);
  EXPECT_THAT(was_out, testing::Each(false));
  EXPECT_TRUE(is_out(objects_[objects_.size() / 2]));
}

TEST_F(FileBacked, AfterAFailedWriteAllIsWrittenAnewBeforeItLeaves) {
  next_write_back_fails = true;
  EXPECT_THAT(page_out_cold(hint::pageout, kNoLimit).problem,
              testing::StartsWith("cannot write back the cold file"));
  for (const void* each : objects_) ASSERT_FALSE(is_out(each));
  std::vector<std::uint64_t> to_be_written;
  before_write_back = [&](std::uint64_t) {
    to_be_written.push_back(testing_help::dirty_bytes_of_cold());
  };
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).problem, "");
  const auto is_all = [](std::uint64_t bytes) { return bytes >= kExtentBytes * 9 / 10; };
  // Of some 30, some may have been written by a sync() of another process.
  EXPECT_GE(std::ranges::count_if(to_be_written, is_all), 5);
  EXPECT_TRUE(is_out(objects_[objects_.size() / 2]));
  to_be_written.clear();
  static_cast<void>(*static_cast<volatile char*>(objects_[objects_.size() / 2]));
  note_cold_use(objects_[objects_.size() / 2]);
  page_out_cold(hint::pageout, kNoLimit);
  before_write_back = nullptr;
  EXPECT_THAT(to_be_written, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(to_be_written, testing::Each(0u)) << "once is enough";
}

// As ext4, which takes what it has failed to write once for written from then on.
TEST_F(FileBacked, WhatTheDiskDoesNotGiveBackStaysInDram) {
  next_write_back_fails = true;
  EXPECT_THAT(page_out_cold(hint::pageout, kNoLimit).problem,
              testing::StartsWith("cannot write back the cold file"));
  disk_has_zeros_from = 0;
  for (int round = 0; round < 2; ++round) {
    const page_out_report report = page_out_cold(hint::pageout, kNoLimit);
    EXPECT_THAT(report.problem, testing::HasSubstr("does not hold what was written"));
    EXPECT_EQ(report.bytes_asked, 0u);
    for (const void* each : objects_) ASSERT_FALSE(is_out(each));
  }
  disk_has_zeros_from.reset();
  while (!page_out_cold(hint::pageout, kNoLimit).problem.empty()) {
  }
  EXPECT_TRUE(is_out(objects_[objects_.size() / 2]));
}

TEST_F(FileBacked, OfWhatTheDiskDoesNotGiveBackNothingIsToldOnceItIsFreed) {
  next_write_back_fails = true;
  page_out_cold(hint::pageout, kNoLimit);
  disk_has_zeros_from = 0;
  EXPECT_NE(page_out_cold(hint::pageout, kNoLimit).problem, "");
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  disk_has_zeros_from.reset();
  EXPECT_EQ(page_out_cold(hint::pageout, kNoLimit).problem, "");
}

// Its pages are read from the disk as soon as one of them is out.
TEST_F(FileBacked, ALargeObjectLeavesAsAWholeOrNotAtAll) {
  constexpr std::size_t kBytes = 3 * kExtentBytes;
  void* const large = allocate(kind::cold, kBytes);
  ASSERT_NE(large, nullptr);
  std::memset(large, 'l', kBytes);
  next_write_back_fails = true;
  page_out_cold(hint::pageout, kNoLimit);
  const auto at = reinterpret_cast<std::uintptr_t>(large) - range_of(kind::cold).begin;
  disk_has_zeros_from = at + kExtentBytes;
  EXPECT_THAT(page_out_cold(hint::pageout, kNoLimit).problem,
              testing::HasSubstr("does not hold what was written"));
  disk_has_zeros_from.reset();
  EXPECT_FALSE(is_out(large));
  while (!page_out_cold(hint::pageout, kNoLimit).problem.empty()) {
  }
  EXPECT_TRUE(is_out(large));
  deallocate(large);
}

TEST_F(FileBacked, FreedExtentsLeaveThePageCache) {
  const std::uint64_t before = usage_of(kind::cold).resident_bytes;
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  EXPECT_LE(usage_of(kind::cold).resident_bytes + 30 * kExtentBytes, before);
}

/// Whoever empties extents leaves them to another.
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
  const std::uint64_t before = usage_of(kind::cold).resident_bytes;
  const int status = in_child([&] {
    if (allocate(kind::cold, 10) != nullptr) return 1;
    if (allocate(kind::newborn, 10) == nullptr || allocate(kind::hot, 10) == nullptr) return 2;
    for (void* object : objects_) deallocate(object);
    if (page_out_cold(hint::pageout, kNoLimit).problem.empty()) return 3;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(usage_of(kind::cold).resident_bytes, before);
  for (std::size_t i = 0; i < objects_.size(); i += 31) {
    EXPECT_EQ(static_cast<unsigned char*>(objects_[i])[0], i % 255);
  }
}

}  // namespace
}  // namespace isotherm::heap
