// Pressure-stall information: how much time tasks lose waiting for memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isotherm::os {

/// Percentage of the last ten seconds in which at least one task of this process's control group
/// waited for memory (`some avg10` of its memory.pressure); of the system (/proc/pressure/memory)
/// where there is no such group. nullopt where the kernel does not tell.
std::optional<double> memory_pressure_percent();

/// Returns the percentage of the control group (version 2) that is named in `membership` (the text
/// of /proc/self/cgroup), under `mount` (/sys/fs/cgroup).
std::optional<double> control_group_pressure(std::string_view membership, const std::string& mount);

/// Reads it from a file's text, e.g. a control group's memory.pressure.
std::optional<double> parse_pressure(std::string_view text);

}  // namespace isotherm::os
