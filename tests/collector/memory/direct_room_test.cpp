// The room in a control group with a limit, over a direct COLD: each in a fork child, since a
// process configures once.
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "collector/memory/memory_room.hpp"
#include "heap/configure.hpp"
#include "os/limited_group.hpp"

// These stand before the C library's: a tmpfs that says it is a file system with DAX.
static bool is_dax = false;
extern "C" int fstatfs(int descriptor, struct statfs* found) noexcept {
  const long status = syscall(SYS_fstatfs, descriptor, found);
  if (is_dax) found->f_type = XFS_SUPER_MAGIC;
  return static_cast<int>(status);
}
extern "C" int statx(int folder, const char* path, int flags, unsigned mask,
                     struct statx* found) noexcept {
  const long status = syscall(SYS_statx, folder, path, flags, mask, found);
  if (is_dax) found->stx_attributes |= STATX_ATTR_DAX;
  return static_cast<int>(status);
}

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{256} << 20;

enum answer : int { kNoTarget, kTargetBelowLimit, kOtherTarget, kFailed };

/// Returns the target in the group with COLD in that place.
answer target_over(const testing_help::limited_group& group, const std::string& place) {
  const pid_t child = fork();
  if (child == 0) {
    heap::options heaps;
    heaps.cold = *heap::cold_backing::parse(place);
    if (!group.enter() || !heap::configure(heaps)) _exit(kFailed);
    const std::uint64_t target = read_memory_room(0).target_bytes;
    _exit(target == 0 ? kNoTarget : target <= kLimit ? kTargetBelowLimit : kOtherTarget);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<answer>(WEXITSTATUS(status)) : kFailed;
}

TEST(DirectRoom, AGroupSetsATargetWhereItDoesNotCountCold) {
  const testing_help::limited_group group(kLimit);
  if (!group.is_made()) return;  // it needs root, and control groups that may be written
  EXPECT_EQ(target_over(group, "anon"), kTargetBelowLimit);
  EXPECT_EQ(target_over(group, "node:0"), kNoTarget);
  EXPECT_EQ(target_over(group, "dax:/dev/shm"), kNoTarget) << "the pages of tmpfs are counted";
  is_dax = true;
  EXPECT_EQ(target_over(group, "dax:/dev/shm"), kTargetBelowLimit);
}

}  // namespace
}  // namespace isotherm::collector
