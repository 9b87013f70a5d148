#include <gtest/gtest.h>

#include "lab/backends/system/control_group.hpp"

namespace isotherm::lab {
namespace {

std::string with_memory(const std::string&) { return "cpuset cpu io memory pids"; }
std::string without_memory(const std::string&) { return "cpuset cpu"; }

constexpr const char* kV1 =
    "proc /proc proc rw 0 0\n"
    "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
    "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n";
constexpr const char* kUnified = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";

TEST(GroupMounts, OfVersionTwoHaveAllInOne) {
  const auto found = find_group_mounts("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", with_memory);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, os::group_version::v2);
  EXPECT_EQ(found->memory, "/sys/fs/cgroup");
  EXPECT_EQ(found->pressure, "/sys/fs/cgroup");
}

TEST(GroupMounts, OfVersionOneTellPressureInTheOther) {
  const auto alone = find_group_mounts(kV1, without_memory);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->version, os::group_version::v1);
  EXPECT_EQ(alone->memory, "/sys/fs/cgroup/memory");
  EXPECT_EQ(alone->pressure, "");
  for (const std::string& mounts : {kV1 + std::string(kUnified), kUnified + std::string(kV1)}) {
    const auto both = find_group_mounts(mounts, without_memory);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->version, os::group_version::v1);
    EXPECT_EQ(both->memory, "/sys/fs/cgroup/memory");
    EXPECT_EQ(both->pressure, "/sys/fs/cgroup/unified");
  }
}

TEST(GroupMounts, WithoutTheMemoryControllerAreNone) {
  EXPECT_FALSE(find_group_mounts(kUnified, without_memory));
  EXPECT_FALSE(find_group_mounts("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", with_memory));
}

}  // namespace
}  // namespace isotherm::lab
