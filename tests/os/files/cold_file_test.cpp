// The unlinked file behind COLD, on a disk file system (tests/heap/configure_test.cpp has the
// refusals).
#include "os/files/cold_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "os/faults.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/residency.hpp"

// Stands before the C library's: file systems that cannot do it.
static int refused_mode = -1, refusal_code = 0;
extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (mode == refused_mode) {
    errno = refusal_code;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}

// The type that the directory's file system is told to have; 0: its own.
static long told_type = 0;
extern "C" int statfs(const char* path, struct statfs* found) noexcept {
  const long status = syscall(SYS_statfs, path, found);
  if (told_type != 0) found->f_type = told_type;
  return static_cast<int>(status);
}

namespace isotherm::os {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;

std::uint64_t disk_bytes(const file& f) {
  struct stat found{};
  EXPECT_EQ(fstat(f.descriptor(), &found), 0);
  return static_cast<std::uint64_t>(found.st_blocks) * 512;
}

TEST(ColdFile, IsNotOnOverlayfs) {
  told_type = OVERLAYFS_SUPER_MAGIC;
  const auto made = open_cold_file("/var/tmp");
  told_type = 0;
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("is on overlayfs"), std::string::npos)
      << made.error().message;
}

TEST(ColdFile, HasNoName) {
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made) << made.error().message;
  struct stat found{};
  ASSERT_EQ(fstat(made->descriptor(), &found), 0);
  EXPECT_EQ(found.st_nlink, 0U);
}

TEST(ColdFile, SpaceIsTakenBeforeItIsWrittenAndGivenBackByAHole) {
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->take_space(kBytes, kBytes));
  EXPECT_GE(disk_bytes(*made), kBytes);
  ASSERT_TRUE(made->punch_hole(kBytes, kBytes));
  EXPECT_LT(disk_bytes(*made), kBytes / 8);
}

TEST(ColdFile, WrittenBackPagesCanLeaveDram) {
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->take_space(0, kBytes));
  const auto range = reserve(kBytes, page_bytes());
  ASSERT_TRUE(range);
  ASSERT_TRUE(map_file(*range, kBytes, made->descriptor(), 0));
  ASSERT_TRUE(commit(*range, kBytes));
  ASSERT_TRUE(advise(*range, kBytes, advice::random));
  std::memset(*range, 5, kBytes);
  EXPECT_EQ(resident_bytes(*range, kBytes), kBytes);
  ASSERT_TRUE(made->write_back(0, kBytes));
  // The system may keep a page for a moment that a processor has in a batch: it is asked again.
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries && resident_bytes(*range, kBytes).value_or(0) > 0; ++i) {
    ASSERT_TRUE(advise(*range, kBytes, advice::page_out));
  }
  EXPECT_EQ(resident_bytes(*range, kBytes), 0U);
  EXPECT_EQ((*range)[kBytes - 1], std::byte{5});
  release(*range, kBytes);
}

TEST(ColdFile, ALimitOnFileSizeIsAnErrorAndNoSignal) {
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{kBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(made->take_space(0, kBytes));
  const auto refused = made->take_space(kBytes, page_bytes());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EFBIG);
}

TEST(ColdFile, AFaultHookReachesItsSpaceAndItsWrites) {
  set_fault_hook([](io_call c) { return c == io_call::create ? EMFILE : 0; });
  const auto refused = open_cold_file("/var/tmp");
  set_fault_hook({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EMFILE);
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  set_fault_hook([](io_call c) { return c == io_call::resize || c == io_call::sync ? EIO : 0; });
  const auto taken = made->take_space(0, kBytes);
  const auto punched = made->punch_hole(0, kBytes);
  const auto written = made->write_back(0, kBytes);
  set_fault_hook({});
  for (const auto* each : {&taken, &punched, &written}) {
    ASSERT_FALSE(*each);
    EXPECT_EQ(each->error().code, EIO);
  }
}

class RefusingFileSystem : public testing::Test {
 protected:
  static void refuse(int mode, int code) {
    refused_mode = mode;
    refusal_code = code;
  }
  ~RefusingFileSystem() override { refuse(-1, 0); }
};

TEST_F(RefusingFileSystem, OneThatCannotSetSpaceAsideIsNotTaken) {
  refuse(0, EOPNOTSUPP);
  const auto made = open_cold_file("/var/tmp");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("set space aside"), std::string::npos);
}

TEST_F(RefusingFileSystem, OneThatCannotPunchHolesIsNotTaken) {
  refuse(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, EOPNOTSUPP);
  EXPECT_FALSE(open_cold_file("/var/tmp"));
}

TEST_F(RefusingFileSystem, OneThatIsFullTodayIsTaken) {
  refuse(0, ENOSPC);
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  const auto refused = made->take_space(0, kBytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENOSPC);
}

}  // namespace
}  // namespace isotherm::os
