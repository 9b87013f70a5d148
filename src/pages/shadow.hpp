// The bytes that an observed program has used: one bit each, in a sparse file in memory. Sources
// write it, one reader counts and clears it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/error.hpp"
#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "pages/bits.hpp"

namespace isotherm::pages {

/// Lines of a page of 4 KiB, and so words of a shadow for it.
inline constexpr std::size_t kLinesPerPage = 4096 / kLineBytes;

/// A page of which bytes are marked: bit B of bytes[L] stands for its byte 64 L + B.
struct marked_page {
  std::uint64_t number = 0;  ///< address / 4096
  std::span<const std::uint64_t, kLinesPerPage> bytes;
};

/// Owns the file and maps it: 32 TiB of address space, of which only marked parts take memory (a
/// page for the marks of 32 KiB). Movable.
class shadow {
 public:
  /// Errors: the system has no memory, or limits the address space or the size of files.
  static base::result<shadow> create();

  /// Marks bytes. Any thread; requires `area` < kAreas.
  void mark(unsigned area, std::uint64_t address, std::uint64_t bytes) const noexcept {
    mark_bytes(words(area), address, bytes);
  }
  /// Marks whole pages of 4 KiB, for sources that see no more. `address` lies on a page.
  void mark_pages(unsigned area, std::uint64_t address, std::uint64_t pages) const noexcept {
    mark(area, address, pages * 4096);
  }

  /// Calls `visit` for each page with marks, in the order of addresses. Marks that are set
  /// meanwhile may be missed.
  base::result<void> for_each_page(unsigned area,
                                   const std::function<void(const marked_page&)>& visit) const;

  /// Removes all marks of an area and gives back its memory. Marks that are set meanwhile may stay.
  base::result<void> clear(unsigned area) const;

  /// The open file, for a process that is to mark: area A begins at A * kAreaBytes.
  const os::file& file() const noexcept { return file_; }

 private:
  shadow_word* words(unsigned area) const noexcept {
    return reinterpret_cast<shadow_word*>(mapped_.data() + area * kAreaBytes);
  }
  os::file file_;
  os::mapping mapped_;
};

}  // namespace isotherm::pages
