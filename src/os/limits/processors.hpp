// How many processors this process may keep busy: those that its affinity allows (taskset), and
// the share of time that its control groups allow (the quota of a container).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::os {

/// Returns that number, at least 1: of several limits the least. A default for numbers of threads.
/// Any thread; reads files of /proc and /sys.
unsigned available_processors();

/// Returns how many processors the quotas of the control groups named in `membership` (the text of
/// /proc/self/cgroup) amount to, rounded up, below `mount` (/sys/fs/cgroup); nullopt: no quota.
std::optional<std::uint64_t> control_group_processors(std::string_view membership,
                                                      const std::string& mount);

}  // namespace isotherm::os
