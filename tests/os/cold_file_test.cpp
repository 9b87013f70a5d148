// The unlinked file behind COLD, on a disk file system (tests/heap/configure_test.cpp has the
// refusals).
#include "os/cold_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/memory.hpp"
#include "os/residency.hpp"

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

TEST(cold_file, has_no_name) {
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file) << file.error().message;
  struct stat found{};
  ASSERT_EQ(fstat(file->descriptor(), &found), 0);
  EXPECT_EQ(found.st_nlink, 0U);
}

TEST(cold_file, space_is_taken_before_it_is_written_and_given_back_by_a_hole) {
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->take_space(kBytes, kBytes));
  EXPECT_GE(disk_bytes(*file), kBytes);
  ASSERT_TRUE(file->punch_hole(kBytes, kBytes));
  EXPECT_LT(disk_bytes(*file), kBytes / 8);
}

TEST(cold_file, written_back_pages_can_leave_dram) {
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

TEST(cold_file, a_limit_on_file_size_is_an_error_and_no_signal) {
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

class refusing_file_system : public testing::Test {
 protected:
  static void refuse(int mode, int code) {
    refused_mode = mode;
    refusal_code = code;
  }
  ~refusing_file_system() override { refuse(-1, 0); }
};

TEST_F(refusing_file_system, one_that_cannot_set_space_aside_is_not_taken) {
  refuse(0, EOPNOTSUPP);
  const auto file = cold_file::open("/var/tmp");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("set space aside"), std::string::npos);
}

TEST_F(refusing_file_system, one_that_cannot_punch_holes_is_not_taken) {
  refuse(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, EOPNOTSUPP);
  EXPECT_FALSE(cold_file::open("/var/tmp"));
}

TEST_F(refusing_file_system, one_that_is_full_today_is_taken) {
  refuse(0, ENOSPC);
  const auto file = cold_file::open("/var/tmp");
  ASSERT_TRUE(file);
  const auto refused = file->take_space(0, kBytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ENOSPC);
}

}  // namespace
}  // namespace isotherm::os
