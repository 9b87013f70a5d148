// The unlinked file behind COLD, on a disk file system (tests/heap/configure_test.cpp has the
// refusals).
#include "os/files/cold_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

namespace isotherm::os {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;

std::uint64_t disk_bytes(const cold_file& file) {
  struct stat found{};
  EXPECT_EQ(fstat(file.descriptor(), &found), 0);
  return static_cast<std::uint64_t>(found.st_blocks) * 512;
}

TEST(ColdFile, HasNoName) {
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file) << file.error().message;
  struct stat found{};
  ASSERT_EQ(fstat(file->descriptor(), &found), 0);
  EXPECT_EQ(found.st_nlink, 0U);
}

TEST(ColdFile, SpaceIsTakenBeforeItIsWrittenAndGivenBackByAHole) {
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->take_space(kBytes, kBytes));
  EXPECT_GE(disk_bytes(*file), kBytes);
  ASSERT_TRUE(file->punch_hole(kBytes, kBytes));
  EXPECT_LT(disk_bytes(*file), kBytes / 8);
}

TEST(ColdFile, WrittenBackPagesCanLeaveDram) {
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->take_space(0, kBytes));
  const auto range = reserve(kBytes, page_bytes());
  ASSERT_TRUE(range);
  ASSERT_TRUE(map_file(*range, kBytes, file->descriptor(), 0));
  ASSERT_TRUE(commit(*range, kBytes));
  ASSERT_TRUE(advise(*range, kBytes, advice::random));
  std::memset(*range, 5, kBytes);
  EXPECT_EQ(resident_bytes(*range, kBytes), kBytes);
  ASSERT_TRUE(file->write_back(0, kBytes));
  ASSERT_TRUE(advise(*range, kBytes, advice::page_out));
  EXPECT_EQ(resident_bytes(*range, kBytes), 0U);
  EXPECT_EQ((*range)[kBytes - 1], std::byte{5});
  release(*range, kBytes);
}

TEST(ColdFile, ALimitOnFileSizeIsAnErrorAndNoSignal) {
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{kBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(file->take_space(0, kBytes));
  const auto refused = file->take_space(kBytes, page_bytes());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EFBIG);
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
  const auto file = cold_file::open("/var/tmp");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("set space aside"), std::string::npos);
}

TEST_F(RefusingFileSystem, OneThatCannotPunchHolesIsNotTaken) {
  refuse(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, EOPNOTSUPP);
  EXPECT_FALSE(cold_file::open("/var/tmp"));
}

TEST_F(RefusingFileSystem, OneThatIsFullTodayIsTaken) {
  refuse(0, ENOSPC);
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file);
  const auto refused = file->take_space(0, kBytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENOSPC);
}

}  // namespace
}  // namespace isotherm::os
