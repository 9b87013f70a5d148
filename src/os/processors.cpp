#include "os/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "os/control_groups.hpp"
#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

std::optional<std::uint64_t> number_in(const std::string& path) {
  return number_after(read_proc_file(path.c_str()), "");
}

/// nullopt: no quota ("max", "-1"), or no such group.
std::optional<double> quota_of(const control_group& group) {
  std::optional<std::uint64_t> quota, period;
  if (group.kind == control_group::version::two) {  // "200000 100000"
    const std::string both = read_proc_file((group.folder + "/cpu.max").c_str());
    quota = number_after(both, "");
    period = number_after(both, " ");
  } else {
    quota = number_in(group.folder + "/cpu.cfs_quota_us");
    period = number_in(group.folder + "/cpu.cfs_period_us");
  }
  if (!quota || period.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

}  // namespace

std::optional<double> control_group_processors(std::string_view membership,
                                               const std::string& mount) {
  std::optional<double> least;
  for (const control_group& each : control_groups(membership, mount, "cpu")) {
    const auto quota = quota_of(each);
    if (quota && quota < least.value_or(*quota + 1)) least = quota;
  }
  return least;
}

unsigned usable_processors() {
  cpu_set_t mine;
  // On a machine of more processors than the set can name the call fails.
  const int named =
      ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : CPU_SETSIZE;
  const double quota =
      control_group_processors(read_proc_file("/proc/self/cgroup"), "/sys/fs/cgroup")
          .value_or(named);
  return static_cast<unsigned>(std::clamp(quota, 1.0, static_cast<double>(named)));
}

}  // namespace isotherm::os
