// The unlinked file behind COLD, on a disk file system (tests/heap/configure_test.cpp has the
// refusals).
#include "os/disk/cold_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/in_a_child.hpp"
#include "heap/temporary_directory.hpp"
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

// The type that a directory's file system is told to have; 0: its own.
static long told_type = 0;
extern "C" int statfs(const char* path, struct statfs* found) noexcept {
  const long status = syscall(SYS_statfs, path, found);
  if (told_type != 0) found->f_type = told_type;
  return static_cast<int>(status);
}

namespace isotherm::os {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;

/// Memory for reads and writes past the page cache.
class page_buffer {
 public:
  explicit page_buffer(std::size_t bytes, std::byte filling = {})
      : begin_(static_cast<std::byte*>(std::aligned_alloc(page_bytes(), bytes))), bytes_(bytes) {
    if (begin_ == nullptr) throw std::bad_alloc();
    std::ranges::fill(all(), filling);
  }
  std::span<std::byte> all() const { return {begin_.get(), bytes_}; }

 private:
  struct frees {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, frees> begin_;
  std::size_t bytes_;
};

std::uint64_t disk_bytes(const file& f) {
  struct stat found{};
  EXPECT_EQ(fstat(f.descriptor(), &found), 0);
  return static_cast<std::uint64_t>(found.st_blocks) * 512;
}

/// Mounts an overlayfs at `folder`/merged, which only this process sees. Returns whether it could.
bool mount_overlay(const std::string& folder) {
  for (const char* each : {"/lower", "/upper", "/work", "/merged"}) {
    if (mkdir((folder + each).c_str(), 0700) != 0) return false;
  }
  const std::string layers =
      "lowerdir=" + folder + "/lower,upperdir=" + folder + "/upper,workdir=" + folder + "/work";
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("overlay", (folder + "/merged").c_str(), "overlay", 0, layers.c_str()) == 0;
}

// A child process alone sees the mount. If it may not mount, it takes its folder for overlayfs.
TEST(ColdFile, MayBeOnOverlayfs) {
  const testing_help::temporary_directory folder;
  EXPECT_TRUE(testing_help::succeeds_in_a_child([&folder] {
    const bool is_mounted = mount_overlay(folder.path());
    if (!is_mounted) told_type = OVERLAYFS_SUPER_MAGIC;
    const auto made = open_cold_file(is_mounted ? folder.path() + "/merged" : folder.path());
    if (!made) return 1;
    const auto direct = made->past_the_cache();
    if (!direct || !made->take_space(0, kBytes)) return 2;
    const page_buffer ones(kBytes, std::byte{1}), read(kBytes);
    if (!direct->write(ones.all(), 0) || !direct->read(read.all(), 0)) return 3;
    return std::ranges::equal(ones.all(), read.all()) ? 0 : 4;
  }));
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

TEST(ColdFile, WhatIsWrittenPastTheCacheTakesNoDram) {
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  ASSERT_TRUE(made->take_space(0, kBytes));
  const auto direct = made->past_the_cache();
  ASSERT_TRUE(direct) << direct.error().message;
  void* const seen = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, made->descriptor(), 0);
  ASSERT_NE(seen, MAP_FAILED);
  ASSERT_TRUE(direct->write(page_buffer(kBytes, std::byte{5}).all(), 0));
  const page_buffer read(kBytes);
  ASSERT_TRUE(direct->read(read.all(), 0));
  EXPECT_EQ(std::ranges::count(read.all(), std::byte{5}), static_cast<std::ptrdiff_t>(kBytes));
  EXPECT_EQ(resident_bytes(seen, kBytes), 0U);
  munmap(seen, kBytes);
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

// Models file systems without direct I/O: tmpfs until Linux 6.5, and some network file systems.
TEST(ColdFile, IsNotWherePagesCannotBeReadPastTheCache) {
  set_fault_hook([](io_call c) { return c == io_call::open ? EINVAL : 0; });
  const auto refused = open_cold_file("/var/tmp");
  set_fault_hook([](io_call c) { return c == io_call::open ? EMFILE : 0; });
  const auto not_opened = open_cold_file("/var/tmp");
  set_fault_hook({});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'/var/tmp' is on a file system without direct I/O"),
            std::string::npos)
      << refused.error().message;
  ASSERT_FALSE(not_opened);
  EXPECT_EQ(not_opened.error().code, EMFILE);
  EXPECT_EQ(not_opened.error().message.find("direct I/O"), std::string::npos)
      << not_opened.error().message;
}

TEST(ColdFile, AFaultHookReachesItsSpace) {
  set_fault_hook([](io_call c) { return c == io_call::create ? EMFILE : 0; });
  const auto refused = open_cold_file("/var/tmp");
  set_fault_hook({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, EMFILE);
  const auto made = open_cold_file("/var/tmp");
  ASSERT_TRUE(made);
  set_fault_hook([](io_call c) { return c == io_call::resize ? EIO : 0; });
  const auto taken = made->take_space(0, kBytes);
  const auto punched = made->punch_hole(0, kBytes);
  set_fault_hook({});
  for (const auto* each : {&taken, &punched}) {
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
