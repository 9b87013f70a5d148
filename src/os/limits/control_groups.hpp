// The control groups that a process is in, of both versions, and the least of their limits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::os {

enum class group_version : std::uint8_t { v1, v2 };

/// Reads the limit of the group at `directory`; nullopt: it has none.
using group_limit = std::function<std::optional<std::uint64_t>(const std::string& directory,
                                                               group_version version)>;

/// Returns the least limit of the groups of `controller` ("memory", "cpu") that `membership` (the
/// text of /proc/self/cgroup) names below `mount` (/sys/fs/cgroup), all of their parents included;
/// nullopt: no limit.
std::optional<std::uint64_t> least_of_groups(std::string_view membership, const std::string& mount,
                                             std::string_view controller, const group_limit& limit);

/// Returns the smaller of two limits, each of which may be absent.
std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b);

}  // namespace isotherm::os
