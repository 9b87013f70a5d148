// Files for what a command reports, beside its work proper.
#pragma once

#include <fstream>
#include <string>

#include "os/files/pending_file.hpp"

namespace isotherm::cli {

/// Made before the work begins, so that a name that cannot be written is told at once and not after
/// hours; what has the name stays until the report is complete. A device (/dev/stderr) is written
/// to.
class report_file {
 public:
  /// Nowhere: write() does nothing.
  report_file() = default;
  /// `path` may be empty: nowhere. Fails the command where it cannot be written.
  explicit report_file(const std::string& path);

  /// Once. Fails the command with a line that begins with `done`, what the command has done by now.
  void write(const std::string& text, const std::string& done);

 private:
  std::string path_;
  os::pending_file file_;
  std::ofstream device_;
};

/// Fails the command, before its work, where the file of `flag`, to which a result will be
/// appended, cannot be written. An empty path and "-" are no files.
void check_appendable(const std::string& flag, const std::string& path);

}  // namespace isotherm::cli
