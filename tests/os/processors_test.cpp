// The processors that affinity and quotas leave.
#include "os/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

void put(const std::string& directory, const std::string& name, const std::string& text) {
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/" + name) << text << "\n";
}

TEST(Processors, TheLeastQuotaOfAllParentsCountsInVersion2) {
  const testing::scratch dir;
  const std::string mount = dir.path();
  put(mount + "/a", "cpu.max", "max 100000");
  put(mount + "/a/b", "cpu.max", "max 100000");
  EXPECT_EQ(control_group_processors("0::/a/b\n", mount), std::nullopt);
  put(mount + "/a", "cpu.max", "250000 100000");
  EXPECT_EQ(control_group_processors("0::/a/b\n", mount), 2.5);
  put(mount + "/a/b", "cpu.max", "50000 100000");
  EXPECT_EQ(control_group_processors("0::/a/b\n", mount), 0.5);
  EXPECT_EQ(control_group_processors("0::/a/b/not/seen/here\n", mount), 0.5);
  EXPECT_EQ(control_group_processors("", mount), std::nullopt);
}

TEST(Processors, KnowsVersion1BesideOtherControllers) {
  const testing::scratch dir;
  put(dir.path() + "/cpu/y", "cpu.cfs_quota_us", "300000");
  put(dir.path() + "/cpu/y", "cpu.cfs_period_us", "100000");
  EXPECT_EQ(control_group_processors("5:cpu,cpuacct:/y\n4:memory:/x\n", dir.path()), 3.0);
  put(dir.path() + "/cpu/y", "cpu.cfs_quota_us", "-1");
  EXPECT_EQ(control_group_processors("5:cpu,cpuacct:/y\n", dir.path()), std::nullopt);
  EXPECT_EQ(control_group_processors("5:cpuset:/y\n", dir.path()), std::nullopt);
}

TEST(Processors, AreNoMoreThanAThreadIsAllowed) {
  const unsigned before = usable_processors();
  EXPECT_GE(before, 1u);
  EXPECT_LE(before, std::thread::hardware_concurrency());
  std::thread([] {
    cpu_set_t mine, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &mine)) CPU_SET(i, &one);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_processors(), 1u);
  }).join();
}

}  // namespace
}  // namespace isotherm::os
