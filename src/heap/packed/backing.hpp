// The memory under a packed range's pages: an interface, and one class for each kind. A further
// kind is a source with its class and its row, which is named in kBackingKinds.
//
// Offsets count from the range's begin and are page multiples.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "heap/configure.hpp"
#include "os/files/file.hpp"

namespace isotherm::heap {

/// Three ways in which objects leave DRAM (DESIGN: mapped and logged COLD):
///
///   mapped  pages stay where they are, and the system moves them out and in
///   direct  mapped, over memory that is not DRAM: objects leave as they are moved there, are used
///           where they lie, and no page moves (dissertation 7.2.5)
///   logged  pages are memory only until write() has put them into a file; after that read() alone
///           gives their bytes, and a touch of their addresses is a fault
class backing {
 public:
  virtual ~backing() = default;
  backing(const backing&) = delete;
  backing& operator=(const backing&) = delete;

  virtual bool is_logged() const noexcept = 0;
  virtual bool is_direct() const noexcept { return false; }
  /// Whether a fork child shares the content of the pages with its parent.
  virtual bool is_shared() const noexcept { return is_logged(); }
  /// Whether memory control groups count the pages as memory of the process.
  virtual bool is_charged() const noexcept { return true; }
  /// Whether the resident set counts pages that are in use.
  virtual bool is_in_resident_set() const noexcept { return true; }
  /// Why no page can leave DRAM at this moment, and how to change that; empty where pages can. Any
  /// thread.
  virtual std::string why_pages_stay() const { return {}; }
  /// The place of the pages, for messages.
  virtual std::string place() const = 0;

  /// Lays itself over a reserved range. Once, before any other call.
  virtual base::result<void> map(std::byte* begin, std::size_t bytes);
  /// Makes pages usable; their content is zeros, or on a DAX device what was there. Room on a disk
  /// is taken first, which takes as long as the disk does. Any thread.
  virtual base::result<void> take(std::size_t offset, std::size_t bytes);
  /// Gives pages, and their room on a disk, back. Any thread.
  virtual void give_back(std::size_t offset, std::size_t bytes) const noexcept = 0;
  /// Asks that pages of a mapped backing leave DRAM now. Any thread.
  base::result<void> drop(std::size_t offset, std::size_t bytes) const;

  // A logged backing has these. Any thread.

  /// Puts pages, to which no thread writes, into the file. Waits for the disk.
  virtual base::result<void> write(std::size_t offset, std::size_t bytes) const;
  /// Ends the memory of pages that were written and that no thread reads in memory any more.
  virtual void end_memory(std::size_t offset, std::size_t bytes) const noexcept;
  /// Reads pages that were written. Waits for the disk. Errors: an errno value in each.
  virtual base::result<void> read(std::span<std::byte> to, std::size_t offset) const;
  /// The file, for reads of many pages at a time; null where there is none.
  virtual const os::file* file() const noexcept { return nullptr; }

  /// In a fork child, a file or device belongs to the parent: nothing is taken, nothing given back,
  /// nothing read.
  void freeze() noexcept { frozen_ = is_shared(); }
  bool is_frozen() const noexcept { return frozen_; }

 protected:
  backing() noexcept = default;
  /// Refuses pages that the control groups would not grant: the kernel would kill the process.
  static base::result<void> ask_control_groups(std::size_t bytes);
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
extern const backing_kind kNodeBacking;       // node_backing.cpp: a memory node
extern const backing_kind kDaxBacking;        // dax_backing.cpp: memory behind a path
inline constexpr std::array kBackingKinds{&kAnonymousBacking, &kFileBacking, &kNodeBacking,
                                          &kDaxBacking};

}  // namespace isotherm::heap
