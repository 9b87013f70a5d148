#include "os/limits/control_groups.hpp"

#include <algorithm>

namespace isotherm::os {
namespace {

/// Looks at the group at `path` below `root` and at all above it. In a container the path may be
/// the host's and not be there: then its parents tell.
std::optional<std::uint64_t> least_up_from(const std::string& root, std::string path,
                                           group_version version, const group_limit& limit) {
  std::optional<std::uint64_t> found;
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    found = least(found, limit(root + path, version));
    if (path.empty()) return found;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

/// Whether `controllers`, separated by commas, have one that is called `name`.
bool names(std::string_view controllers, std::string_view name) {
  for (;;) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    controllers.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::optional<std::uint64_t> least_of_groups(std::string_view membership, const std::string& mount,
                                             std::string_view controller,
                                             const group_limit& limit) {
  std::optional<std::uint64_t> found;
  while (!membership.empty()) {
    const std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      found = least(found, least_up_from(mount, path, group_version::v2, limit));
    } else if (names(controllers, controller)) {
      const std::string root = mount + "/" + std::string(controller);
      found = least(found, least_up_from(root, path, group_version::v1, limit));
    }
  }
  return found;
}

}  // namespace isotherm::os
