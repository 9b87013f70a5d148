// Facts read from /proc, and the fork hook.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/fork.hpp"
#include "os/machine.hpp"
#include "os/memory/pressure.hpp"
#include "os/memory/swap.hpp"
#include "os/proc_file.hpp"
#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

TEST(ProcFile, FindsNumbersBehindLabels) {
  constexpr const char* kText = "SwapTotal:       1024 kB\nSwapFree:\t7 kB\nName: x\n";
  EXPECT_EQ(number_after(kText, "SwapTotal:"), 1024U);
  EXPECT_EQ(number_after(kText, "SwapFree:"), 7U);
  EXPECT_EQ(number_after(kText, "Name:"), std::nullopt);
  EXPECT_EQ(number_after(kText, "MemFree:"), std::nullopt);
}

TEST(ProcFile, AnAbsentFileReadsAsEmpty) { EXPECT_EQ(read_proc_file("/proc/no such"), ""); }

TEST(Machine, NamesItself) {
  const machine here = this_machine();
  EXPECT_FALSE(here.processor.empty());
  EXPECT_GT(here.processors, 0U);
  EXPECT_GT(here.memory_bytes, 0U);
  EXPECT_TRUE(here.system.starts_with("Linux ")) << here.system;
}

TEST(Machine, TheCommandsFirstWordIsTheProgram) {
  const auto words = command_words();
  ASSERT_FALSE(words.empty());
  EXPECT_TRUE(words.front().ends_with("os_system_facts_test")) << words.front();
}

TEST(Pressure, ParsesTheKernelsLines) {
  EXPECT_EQ(parse_pressure("some avg10=12.50 avg60=1.00 avg300=0.10 total=9\nfull avg10=3.00"),
            12.5);
  EXPECT_EQ(parse_pressure(""), std::nullopt);
  EXPECT_EQ(parse_pressure("some avg10=x"), std::nullopt);
}

TEST(Pressure, OfTheSystemIsAPercentageWhereTold) {
  const bool told = !read_proc_file("/proc/pressure/memory").empty();
  const auto percent = memory_pressure_percent();
  EXPECT_EQ(percent.has_value(), told);
  EXPECT_GE(percent.value_or(0), 0.0);
  EXPECT_LE(percent.value_or(0), 100.0);
}

TEST(Pressure, OfTheOwnControlGroup) {
  const testing::scratch dir;
  std::filesystem::create_directories(dir.path() + "/a/b");
  std::ofstream(dir.path() + "/a/b/memory.pressure") << "some avg10=7.25 avg60=1.00\n";
  EXPECT_EQ(control_group_pressure("4:memory:/x\n0::/a/b\n", dir.path()), 7.25);
  EXPECT_EQ(control_group_pressure("0::/a/b", dir.path()), 7.25);
  EXPECT_EQ(control_group_pressure("0::/a\n", dir.path()), std::nullopt);
  EXPECT_EQ(control_group_pressure("4:memory:/a/b\n", dir.path()), std::nullopt);
}

TEST(Swap, FreeSpaceIsPartOfTheTotal) {
  const swap_space space = read_swap_space();
  EXPECT_LE(space.free_bytes, space.total_bytes);
}

int child_runs = 0;
int parent_runs = 0;

TEST(Fork, HandlersRunOnTheirSides) {
  at_fork(nullptr, [] { ++parent_runs; }, [] { ++child_runs; });
  const pid_t child = fork();
  if (child == 0) _exit(child_runs == 1 && parent_runs == 0 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(parent_runs, 1);
  EXPECT_EQ(child_runs, 0);
}

}  // namespace
}  // namespace isotherm::os
