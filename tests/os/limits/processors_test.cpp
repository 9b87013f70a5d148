// The processors that taskset and containers leave to a process.
#include "os/limits/processors.hpp"

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

TEST(Processors, AreNoMoreThanTheQuotasOfAllParentsInVersion2) {
  const testing::scratch dir;
  const std::string mount = dir.path();
  put(mount + "/a", "cpu.max", "400000 100000");
  put(mount + "/a/b", "cpu.max", "max 100000");
  EXPECT_EQ(control_group_processors("0::/a/b\n", mount), 4u);
  put(mount + "/a/b", "cpu.max", "150000 100000");
  EXPECT_EQ(control_group_processors("0::/a/b\n", mount), 2u);  // rounded up
  put(mount + "/a/b", "cpu.max", "5000 50000");
  EXPECT_EQ(control_group_processors("0::/a/b/not/seen/here\n", mount), 1u);
  EXPECT_EQ(control_group_processors("0::/\n", mount), std::nullopt);
}

TEST(Processors, KnowTheQuotasOfVersion1BesideOtherControllers) {
  const testing::scratch dir;
  put(dir.path() + "/cpu/x", "cpu.cfs_quota_us", "300000");
  put(dir.path() + "/cpu/x", "cpu.cfs_period_us", "100000");
  put(dir.path() + "/cpu/y", "cpu.cfs_quota_us", "-1");
  put(dir.path() + "/cpu/y", "cpu.cfs_period_us", "100000");
  put(dir.path() + "/cpu/z", "cpu.cfs_quota_us", "300000");
  put(dir.path() + "/cpu/z", "cpu.cfs_period_us", "0");
  EXPECT_EQ(control_group_processors("5:cpu,cpuacct:/x\n4:memory:/y\n0::/\n", dir.path()), 3u);
  EXPECT_EQ(control_group_processors("5:cpuset,cpu:/y\n", dir.path()), std::nullopt);
  EXPECT_EQ(control_group_processors("5:cpu:/z\n", dir.path()), std::nullopt);
  EXPECT_EQ(control_group_processors("5:cpuset:/x\n", dir.path()), std::nullopt);
}

TEST(Processors, AreThoseOfTheThreadsAffinity) {
  EXPECT_LE(available_processors(), std::thread::hardware_concurrency());
  std::thread([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(available_processors(), 1u);
  }).join();
}

}  // namespace
}  // namespace isotherm::os
