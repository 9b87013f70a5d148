// Inputs and outputs that are no files which can be read and written anywhere: standard input and
// output, other descriptors, and files of /proc that do not tell their size. Their input is first
// put into a file without a name; their output waits in one until it is complete.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "os/files/file.hpp"

namespace isotherm::os {

/// A name of this process's descriptor `standard` for "-"; any other path as it is.
std::string spelled_out(const std::string& path, int standard);

/// The open descriptor of this process that `path` names: /dev/stdin, /dev/stdout, /dev/fd/N,
/// /proc/self/fd/N and the like, or a symbolic link to one of these. Returns nullopt for all other
/// paths.
std::optional<int> named_descriptor(const std::string& path);

/// Returns the name in messages of a descriptor that was given as `path`: "standard output" for the
/// user's `-`, such names for the other standard descriptors too; `path` for all others.
std::string name_of_descriptor(int descriptor, const std::string& path);

/// Whether `path` names a descriptor, a pipe or a character device: no file that can be replaced.
bool is_stream(const std::string& path);

/// Opens such a path for writing; waits until a program reads from a pipe.
base::result<file> open_stream(const std::string& path);

/// Returns where output for `path` waits until it is complete: its own directory; for a stream or a
/// mount point `temporary`, or, if that is empty, $TMPDIR or /tmp.
std::string waiting_directory(const std::string& path, const std::string& temporary = {});

/// $TMPDIR or /tmp.
std::string usual_directory();

/// Whether `f`, a regular file, can be read where it lies: it is at its beginning, and its size
/// tells how much it holds. An error if it is no regular file.
base::result<bool> holds_still(const file& f);

struct input_file {
  file handle;
  bool still = false;  ///< else it is to be spooled
};
/// Opens what `path` names: a descriptor, a regular file, a pipe or a character device; an error if
/// it is none of them.
base::result<input_file> open_input(const std::string& path);

/// Reads up to `target.size()` bytes that `from` gives from its position on; none at its end. Ends
/// soon, with an error of code EINTR, when a stop is requested.
base::result<std::size_t> read_waiting(const file& from, std::span<std::byte> target,
                                       const std::stop_token& stop);

/// Returns a file without a name in `directory` that holds all that read_waiting() gives.
base::result<file> spool(const file& from, const std::string& directory,
                         const std::stop_token& stop);

/// Writes all of `f` to the beginning of `to` or, if that is in_order(), at its position.
base::result<void> pour(const file& f, const file& to);

}  // namespace isotherm::os
