#include "os/limits/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <thread>

#include "os/limits/control_groups.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

/// Returns the processors that the group's quota for each period amounts to.
std::optional<std::uint64_t> quota_of_group(const std::string& path, group_version version) {
  std::string quota;
  std::string period;
  if (version == group_version::v2) {
    quota = read_proc_file((path + "/cpu.max").c_str());
    period = quota.substr(std::min(quota.size(), quota.find(' ')));
  } else {
    quota = read_proc_file((path + "/cpu.cfs_quota_us").c_str());
    period = read_proc_file((path + "/cpu.cfs_period_us").c_str());
  }
  const auto used_us = number_after(quota, "");  // "max" and -1: no quota
  const auto period_us = number_after(period, "");
  if (!used_us || !period_us || *period_us == 0) return std::nullopt;
  return (*used_us + *period_us - 1) / *period_us;
}

unsigned affinity() {
  std::array<cpu_set_t, 8> sets;  // 8192 processors, the most that Linux is built for
  if (sched_getaffinity(0, sizeof sets, sets.data()) != 0) {
    return std::thread::hardware_concurrency();
  }
  return static_cast<unsigned>(CPU_COUNT_S(sizeof sets, sets.data()));
}

}  // namespace

std::optional<std::uint64_t> control_group_processors(std::string_view membership,
                                                      const std::string& mount) {
  return least_of_groups(membership, mount, "cpu", quota_of_group);
}

unsigned available_processors() {
  const auto quota =
      control_group_processors(read_proc_file("/proc/self/cgroup"), "/sys/fs/cgroup");
  const std::uint64_t allowed = std::max(1u, affinity());
  return static_cast<unsigned>(
      std::max<std::uint64_t>(1, std::min(allowed, quota.value_or(allowed))));
}

}  // namespace isotherm::os
