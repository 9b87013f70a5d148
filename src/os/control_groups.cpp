#include "os/control_groups.hpp"

#include <algorithm>

namespace isotherm::os {
namespace {

/// Whether `controllers`, separated by commas, have this one.
bool names(std::string_view controllers, std::string_view one) {
  for (;;) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == one) return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

/// The group at `path` below `root`, and all above it.
void add_with_parents(std::vector<control_group>& to, const std::string& root, std::string path,
                      control_group::version kind) {
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    to.push_back({root + path, kind});
    if (path.empty()) return;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

std::vector<control_group> control_groups(std::string_view membership, const std::string& mount,
                                          std::string_view controller) {
  using version = control_group::version;
  std::vector<control_group> found;
  while (!membership.empty()) {
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      add_with_parents(found, mount, path, version::two);
    } else if (names(controllers, controller)) {
      add_with_parents(found, mount + "/" + std::string(controller), path, version::one);
    }
  }
  return found;
}

}  // namespace isotherm::os
