// The memory under a packed range's pages: an interface, and one class for each kind. A further
// kind (a NUMA node, DAX) is a source with its class and its row, which is named in kBackingKinds.
//
// Offsets count from the range's begin and are page multiples.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "heap/configure.hpp"
#include "os/files/file.hpp"

namespace isotherm::heap {

class backing {
 public:
  virtual ~backing() = default;
  backing(const backing&) = delete;
  backing& operator=(const backing&) = delete;

  /// Whether pages are read from a disk and room is taken on one: a touch of a page may fail, and
  /// give_back() waits for the disk.
  virtual bool is_on_disk() const noexcept = 0;
  /// Why no page can leave DRAM at this moment, and how to change that; empty where pages can. Any
  /// thread.
  virtual std::string why_pages_stay() const = 0;
  /// The place of the pages, for messages.
  virtual std::string place() const = 0;
  /// The file for reads past the mapping; null where there is none.
  virtual const os::file* file() const noexcept { return nullptr; }

  /// Lays itself over a reserved range. Once, before any other call.
  virtual base::result<void> map(std::byte* begin, std::size_t bytes);
  /// Makes pages usable, zeroed; room on a disk is taken first, which takes as long as the disk
  /// does. Any thread.
  virtual base::result<void> take(std::size_t offset, std::size_t bytes);
  /// Gives pages, and their room on a disk, back. Any thread.
  virtual void give_back(std::size_t offset, std::size_t bytes) const noexcept = 0;

  /// Writes pages back, so that they can leave. Any thread.
  virtual base::result<void> clean(std::size_t, std::size_t) const { return {}; }
  /// Makes the pages that are in DRAM ones that clean() writes, unchanged, though the system may
  /// believe that they are on the disk. Any thread.
  virtual base::result<void> write_anew(std::size_t, std::size_t) const { return {}; }
  /// Whether the disk gives back the content of the pages that are in DRAM, which are clean. True
  /// where the file cannot be read past the page cache, so that it is not known. Any thread.
  virtual bool is_written(std::size_t, std::size_t) const { return true; }
  /// Asks that pages, which are clean, leave DRAM now. Any thread.
  base::result<void> drop(std::size_t offset, std::size_t bytes) const;

  /// In a fork child, a file belongs to the parent: nothing is taken, nothing given back.
  void freeze() noexcept { frozen_ = is_on_disk(); }
  bool is_frozen() const noexcept { return frozen_; }

 protected:
  backing() noexcept = default;
  std::byte* begin() const noexcept { return begin_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
  base::atomic<std::size_t> committed_{0};  // [0, committed_) is accessible
  bool frozen_ = false;                     // written in a fork child's single thread only
};

/// Makes memory of the process, whose pages leave for swap. Errors: throws std::bad_alloc.
std::unique_ptr<backing> make_anonymous_backing();

/// A kind of backing that programs may choose for COLD.
struct backing_kind {
  std::string_view name;      ///< in the text of cold_backing
  std::string_view argument;  ///< names what stands behind it and ':'; empty: nothing does
  std::string_view help;      ///< what it is, for help texts
  backing_description (*describe)(const std::string& argument);
  base::result<std::unique_ptr<backing>> (*make)(const std::string& argument);
};

extern const backing_kind kAnonymousBacking;  // anonymous_backing.cpp
extern const backing_kind kFileBacking;       // file_backing.cpp: an unlinked file
inline constexpr std::array kBackingKinds{&kAnonymousBacking, &kFileBacking};

}  // namespace isotherm::heap
