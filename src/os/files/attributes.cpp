#include "os/files/attributes.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <vector>

#include "os/faults.hpp"
#include "os/files/failure.hpp"

namespace isotherm::os {
namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
// These bind the old contents, or let them act for another user.
constexpr std::array<std::string_view, 3> kOfContents = {"security.capability", "security.ima",
                                                         "security.evm"};

/// Returns the names of the extended attributes at `path`; none where the file system has no such
/// attributes.
std::vector<std::string> attribute_names(const char* path) {
  std::string list(XATTR_LIST_MAX, '\0');
  const ssize_t n = ::listxattr(path, list.data(), list.size());
  list.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, '\0');) names.push_back(name);
  return names;
}

/// Copies one extended attribute; returns whether `descriptor` has it now.
bool copy_attribute(int descriptor, const char* path, const char* name) {
  std::vector<std::byte> value(XATTR_SIZE_MAX);
  const ssize_t n = ::getxattr(path, name, value.data(), value.size());
  return n >= 0 && ::fsetxattr(descriptor, name, value.data(), static_cast<std::size_t>(n), 0) == 0;
}

/// Gives the file away as far as the process may. Returns whether it has the group `wanted`.
bool give_away(int descriptor, const struct stat& ours, uid_t owner, gid_t group) {
  if (owner == ours.st_uid && group == ours.st_gid) return true;
  if (::fchown(descriptor, owner, group) == 0) return true;
  return ::fchown(descriptor, static_cast<uid_t>(-1), group) == 0;
}

}  // namespace

// The group bits of a file with an access list are the list's mask, and the list that a directory
// gives new files is no part of the old file: the list is therefore set or removed before the mode.
base::result<void> take_attributes(const file& to, const std::string& path, std::string_view but) {
  const std::string attempt =
      "cannot give " + to.path() + " the permissions of the file it replaces";
  if (const int e = injected_fault(io_call::stat)) return failed(attempt, e);
  const int descriptor = to.descriptor();
  struct stat there;
  struct stat ours;
  if (::stat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return {};
    return failed(attempt, errno);
  }
  if (::fstat(descriptor, &ours) != 0) return failed(attempt, errno);
  bool same_group = give_away(descriptor, ours, there.st_uid, there.st_gid);
  ::fremovexattr(descriptor, kAccessList);
  for (const std::string& name : attribute_names(path.c_str())) {
    if (name == but || std::ranges::count(kOfContents, name) > 0) continue;
    if (name == kAccessList) {
      same_group = same_group && copy_attribute(descriptor, path.c_str(), kAccessList);
    } else {
      copy_attribute(descriptor, path.c_str(), name.c_str());
    }
  }
  mode_t mode = there.st_mode & 0777;  // other contents get no rights beyond reading and writing
  // Without the old group or its list, members of the new group get what all others had.
  if (!same_group) mode &= ~mode_t{070} | (mode & 07) << 3;
  if (::fchmod(descriptor, mode) != 0) return failed(attempt, errno);
  return {};
}

}  // namespace isotherm::os
