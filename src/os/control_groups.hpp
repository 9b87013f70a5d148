// The control groups that a process is in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isotherm::os {

/// A group that may limit the process, as a folder with its files.
struct control_group {
  enum class version : std::uint8_t { one, two };
  std::string folder;
  version kind;
};

/// The groups named in `membership` (the text of /proc/self/cgroup) that have `controller`, and all
/// above them, of both versions, under `mount` (/sys/fs/cgroup). In a container a path may be the
/// host's and not be there: then its parents tell.
std::vector<control_group> control_groups(std::string_view membership, const std::string& mount,
                                          std::string_view controller);

}  // namespace isotherm::os
