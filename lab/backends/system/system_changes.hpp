// Changes of the system that a run makes: swap, compressed memory, control groups, texts of /proc
// and /sys.
//
// A change is written to a list before it is made, so that it is undone however the run ends: by
// the run itself, or after a SIGKILL by the next run, which finds the list.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::lab {

/// The place of the list. Gone once all is undone.
inline constexpr const char* kChangesPath = "/run/isotherm-bench-backends";

/// The names of control groups begin so: undoing a group ends the processes in it.
inline constexpr const char* kGroupPrefix = "isotherm-bench-";

/// Kinds of changes, each with the argument that undoing it needs.
enum class change : unsigned char {
  file,        ///< a file was made at this path
  swap,        ///< the swap space at this path is in use
  added_zram,  ///< the zram device of this number was added
  group,       ///< a control group was made at this path
  controller,  ///< of the group of version 2 at this path, a blank, the controller that was enabled
  damon,       ///< monitors of DAMON run, whose files are below this folder
  text         ///< a file of /proc or /sys was written to: its path, a blank and its old text
};

/// The list, held by one process at a time. Thread: one.
class system_changes {
 public:
  /// Takes the list at `path`, and first undoes what a run that was killed has left there, each of
  /// which it adds to `mended` as a line. Errors: another run holds the list, it cannot be written,
  /// or something cannot be undone.
  static base::result<system_changes> open(const std::string& path,
                                           std::vector<std::string>& mended);
  /// Returns a list on which nothing can be noted: without root nothing can be changed.
  static system_changes none() { return system_changes(os::file()); }
  system_changes(system_changes&&) = default;
  system_changes& operator=(system_changes&&) = delete;
  ~system_changes();  ///< undoes all

  /// Notes a change that is about to be made. `argument` has no line feed.
  base::result<void> note(change kind, const std::string& argument);
  /// Writes `text` to a file of /proc or /sys whose text, one line, is written back when this is
  /// undone; of a choice ("always [madvise] never") the chosen word is.
  base::result<void> write(const std::string& path, const std::string& text);
  /// Enables a controller for the groups below a group of version 2. It stays enabled when this is
  /// undone if other groups are there, which may have come to use it.
  base::result<void> enable(const std::string& group, const std::string& controller);
  /// Takes back the note of the change noted last, which was refused by the system.
  base::result<void> forget_last();

  /// Returns the number of changes that are noted.
  std::size_t count() const noexcept { return noted_.size(); }
  /// Undoes all but the first `count`, the last first. Changes that cannot be undone stay noted;
  /// the error names the first of them.
  base::result<void> undo_to(std::size_t count);

 private:
  explicit system_changes(os::file list) : list_(std::move(list)) {}
  base::result<void> note_and_write(change kind, const std::string& argument,
                                    const std::string& path, const std::string& text);
  base::result<void> save() const;

  os::file list_;
  std::vector<std::string> noted_;  // lines: a word of the kind, a blank, the argument
};

/// Writes `text` to a file of /proc or /sys, and does not note it.
base::result<void> write_text(const std::string& path, const std::string& text);
/// Returns the text of a file of /proc or /sys without the line feed at its end; "" when it cannot
/// be read.
std::string read_text(const std::string& path);

}  // namespace isotherm::lab
