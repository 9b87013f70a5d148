// The unlinked file behind a file-backed COLD heap: it has no name, so that nothing is left behind
// whatever ends the process.
//
// Space is taken before it is written to: a store to a hole on a full disk is SIGBUS, not an error
// code. Dirty pages leave DRAM only after they were written back; see heap/reclaim.cpp.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace isotherm::os {

/// Owns the file's descriptor (close-on-exec). Thread-safe after open(). Offsets and lengths in
/// bytes, page multiples.
class cold_file {
 public:
  /// Makes an unnamed file in `directory`. Refuses with one line that says what to do: no such
  /// directory, not writable, tmpfs or ramfs (their pages are DRAM).
  static base::result<cold_file> open(const std::string& directory);

  cold_file(cold_file&& other) noexcept;
  cold_file& operator=(cold_file&& other) noexcept;
  cold_file(const cold_file&) = delete;
  cold_file& operator=(const cold_file&) = delete;
  ~cold_file();

  int descriptor() const noexcept { return descriptor_; }

  /// Takes disk space for the bytes, growing the file when needed. ENOSPC and EDQUOT: the disk is
  /// full; EFBIG: over RLIMIT_FSIZE (asked here, because the kernel would send SIGXFSZ).
  base::result<void> take_space(std::size_t offset, std::size_t bytes) const;

  /// Gives disk space and page cache back; the bytes read as zero.
  base::result<void> punch_hole(std::size_t offset, std::size_t bytes) const;

  /// Writes dirty pages of the bytes to disk and waits for it.
  base::result<void> write_back(std::size_t offset, std::size_t bytes) const;

 private:
  explicit cold_file(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace isotherm::os
