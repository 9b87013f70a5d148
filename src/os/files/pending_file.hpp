// A file that is seen only when it is complete. Until then it has no name, so that nothing is left
// of it whatever ends the process. To take the place of another file it needs a temporary name for
// the moment between two calls, and on a file system without such files (NFS) from the beginning;
// what a process leaves that is killed then, the next one that writes the same file removes, if the
// file system has extended attributes: by one it knows the file for ours.
#pragma once

#include <stop_token>
#include <string>

#include "os/files/file.hpp"

namespace isotherm::os {

/// Removes the temporary names of files that are not published yet, for a handler of a signal that
/// ends the process. Async-signal-safe.
void remove_incomplete_files() noexcept;

/// Movable. Destroyed before publish(), it leaves nothing, and what had its name is as it was.
class pending_file {
 public:
  pending_file() noexcept = default;
  pending_file(pending_file&& other) noexcept;
  pending_file& operator=(pending_file&& other) noexcept;
  ~pending_file();

  /// Begins a file that will be `path`. Symbolic links at `path` are followed; what is there and
  /// no regular file is refused, and a regular file leaves it its owner, rights and extended
  /// attributes (attributes.hpp).
  /// If `path` names a descriptor (spool.hpp), that gets the contents from publish(), which end up
  /// in no file; if it is a mount point, whose name cannot be given away, publish() writes them
  /// into the file that is there. Until then they wait in `directory`, or, if it is empty, in
  /// waiting_directory(path). Removes the files that a killed process left of `path`, except
  /// `input` (may be null).
  static base::result<pending_file> create(const std::string& path,
                                           const std::string& directory = {},
                                           const file* input = nullptr);

  const file& handle() const noexcept { return file_; }
  /// Waits until its bytes are on the device: if that is before publish(), the name stands for the
  /// old file or for all of the new one after a crash of the system.
  base::result<void> sync() const { return target_ ? base::result<void>{} : file_.sync(); }
  /// Gives the file its name, in the place of the file that had it. Do not write afterwards. A
  /// descriptor that is slow to take the contents is given up, with an error of code EINTR, when a
  /// stop is requested.
  base::result<void> publish(const std::stop_token& stop = {});
  /// Waits, after publish(), until the name is on the device as well, or the contents of a mount
  /// point.
  base::result<void> sync_name() const;

 private:
  base::result<void> overwrite() const;
  file file_;
  file target_;            // open if `path_` names a descriptor or a mount point
  bool in_place_ = false;  // `target_` is a mount point
  std::string path_;
  std::string temporary_;  // its name by now; empty: none
};

}  // namespace isotherm::os
