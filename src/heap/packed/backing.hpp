// What a packed range's pages stand on: anonymous memory, or an unlinked file
// (cold_backing in configure.hpp). Offsets count from the range's begin and are page multiples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "base/page.hpp"
#include "os/files/file.hpp"

namespace isotherm::heap {

class backing {
 public:
  /// Anonymous memory.
  backing() noexcept = default;
  explicit backing(os::file file) noexcept : file_(std::move(file)) {}
  /// Before map() only.
  backing(backing&& other) noexcept : file_(std::move(other.file_)) {}
  backing& operator=(backing&& other) noexcept {
    file_ = std::move(other.file_);
    return *this;
  }

  bool is_file() const noexcept { return file_.has_value(); }

  /// Lays itself over a reserved range. Once, before any other call.
  base::result<void> map(std::byte* begin, std::size_t bytes);

  /// Makes pages usable, zeroed; a file's disk space is taken first, which takes as long as the
  /// disk does. Any thread.
  base::result<void> take(std::size_t offset, std::size_t bytes);

  /// Gives pages, and a file's disk space, back. Any thread.
  void give_back(std::size_t offset, std::size_t bytes) const noexcept;

  /// Writes a file's pages back, so that they can leave. Any thread.
  base::result<void> clean(std::size_t offset, std::size_t bytes) const;
  /// Makes the pages that are in DRAM ones that clean() writes, unchanged, though the system may
  /// believe that they are on the disk. Any thread.
  base::result<void> write_anew(std::size_t offset, std::size_t bytes) const;
  /// Whether the disk gives back what the pages that are in DRAM hold, which are clean. True where
  /// the file cannot be read past the page cache, so that nothing tells. Any thread.
  bool is_on_disk(std::size_t offset, std::size_t bytes) const;
  /// Asks that pages, which are clean, leave DRAM now. Any thread.
  base::result<void> drop(std::size_t offset, std::size_t bytes) const;

  /// The file, if it is one, for reads past the mapping.
  const os::file* file() const noexcept { return file_ ? &*file_ : nullptr; }

  /// In a fork child, a file belongs to the parent: nothing is taken, nothing given back.
  void freeze() noexcept { frozen_ = file_.has_value(); }
  bool is_frozen() const noexcept { return frozen_; }

 private:
  /// Of these pages, those that are in DRAM.
  base::result<std::vector<base::page_span>> runs_in_dram(std::size_t offset,
                                                          std::size_t bytes) const;

  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  base::atomic<std::size_t> committed_{0};  // [0, committed_) is accessible
  std::optional<os::file> file_;
  bool frozen_ = false;  // written in a fork child's single thread only
};

}  // namespace isotherm::heap
