// The limits that containers and shells set, and the memory that they leave.
#include "os/memory/available_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "os/memory/address_space.hpp"
#include "os/proc_file.hpp"
#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kRoom = 64 << 20;

void put(const std::string& directory, const std::string& name, const std::string& text) {
  fs::create_directories(directory);
  std::ofstream(directory + "/" + name) << text << "\n";
}

TEST(AvailableMemory, CountsTheLeastOfAllParentsInVersion2) {
  const testing::scratch dir;
  const std::string mount = dir.path();
  put(mount + "/a", "memory.max", "1000");
  put(mount + "/a", "memory.current", "700");
  put(mount + "/a/b", "memory.max", "max");
  put(mount + "/a/b", "memory.current", "600");
  EXPECT_EQ(control_group_room("0::/a/b\n", mount), 300u);
  EXPECT_EQ(control_group_room("0::/a/b/not/seen/here\n", mount), 300u);
  put(mount + "/a/b", "memory.max", "650");
  EXPECT_EQ(control_group_room("0::/a/b\n", mount), 50u);
  put(mount + "/a/b", "memory.stat", "anon 7\nfile 999\ninactive_file 100\nactive_file 20");
  EXPECT_EQ(control_group_room("0::/a/b\n", mount), 170u);
  put(mount + "/a/b", "memory.current", "9999");
  EXPECT_EQ(control_group_room("0::/a/b\n", mount), 0u);
  EXPECT_EQ(control_group_room("0::/\n", mount), std::nullopt);
  EXPECT_EQ(control_group_room("", mount), std::nullopt);
}

TEST(AvailableMemory, KnowsVersion1BesideOtherControllers) {
  const testing::scratch dir;
  put(dir.path() + "/memory/x", "memory.limit_in_bytes", "5000");
  put(dir.path() + "/memory/x", "memory.usage_in_bytes", "4000");
  put(dir.path() + "/memory/x", "memory.stat", "cache 1\ntotal_inactive_file 500");
  const std::string lines = "5:cpu,cpuacct:/y\n4:memory:/x\n0::/\n";
  EXPECT_EQ(control_group_room(lines, dir.path()), 1500u);
  EXPECT_EQ(control_group_room("5:cpu,memory_other:/x\n", dir.path()), std::nullopt);
}

TEST(AvailableMemory, IsNoMoreThanTheLimitOfAddressSpace) {
  EXPECT_GT(available_memory(), 0u);
  const pid_t child = fork();
  if (child == 0) {
    const auto pages = number_after(read_proc_file("/proc/self/statm"), "").value_or(0);
    const rlimit limit{pages * page_bytes() + kRoom, RLIM_INFINITY};
    _exit(setrlimit(RLIMIT_AS, &limit) == 0 && available_memory() <= kRoom ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace isotherm::os
