// Tells where paths lead, and whether two of them lead to one file.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// The identity of a file: equal for two names of one file, links included.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool regular = false;
  bool stream = false;  ///< a pipe or a character device: read and written in order only
  friend bool operator==(const file_identity&, const file_identity&) = default;
};
/// Returns that of an existing file; an error of code ENOENT if there is none.
base::result<file_identity> identity(const std::string& path);
/// Returns that of an open file.
base::result<file_identity> identity(const file& f);
/// Whether both names are one file, or, if there are none, would be.
bool same_file(const std::string& a, const std::string& b);
/// Returns where `path` leads: symbolic links at its end are followed, also to what is not there
/// yet, but not those of /proc: they stand for open files.
std::string link_target(const std::string& path);
/// Whether a file system, or one file of one, is mounted at `path`: a file that a container binds,
/// for example. Its name cannot be given to another file. False on a kernel before 5.8, which does
/// not tell.
bool is_mount_point(const std::string& path);
/// The directory part of `path`, "." when it has none.
std::string directory_of(const std::string& path);

}  // namespace isotherm::os
