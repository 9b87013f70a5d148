// A region of memory in pages of one size, filled with lines that name each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "lab/tlb/hot_set.hpp"

namespace isotherm::lab {

enum class page_size : std::uint8_t { small, huge };  ///< 4 KiB; 2 MiB, if the system has them
std::uint64_t bytes_of(page_size size) noexcept;
/// "4k" or "2m".
const char* name_of(page_size size) noexcept;

/// How the accesses of a walk depend on each other.
enum class access_kind : std::uint8_t {
  dependent,   ///< each line names the next: the time of one access
  independent  ///< addresses are known before: accesses overlap as far as the processor can
};
const char* name_of(access_kind kind) noexcept;

/// Owns its memory, all of it in DRAM. Movable. Owned by one thread.
class memory_region {
 public:
  /// Maps and touches `bytes`, a multiple of 2 MiB.
  static base::result<memory_region> make(std::uint64_t bytes, page_size size);
  memory_region(memory_region&& other) noexcept
      : lines_(std::exchange(other.lines_, {})), size_(other.size_) {}
  memory_region& operator=(memory_region&& other) noexcept {
    std::swap(lines_, other.lines_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~memory_region();

  page_size size() const noexcept { return size_; }
  std::uint64_t bytes() const noexcept { return lines_.size_bytes(); }
  /// Bytes that the system really holds in huge pages now.
  std::uint64_t huge_bytes() const;

  /// Makes each of `order` name the next, the last one the first. A region keeps one order for each
  /// layout.
  void link(std::span<const std::uint32_t> order, layout which) noexcept;
  /// Uses the lines of `order`, which was linked, so many times in turn. Returns a sum over what it
  /// read, which is checked_sum() of the same walk.
  std::uint64_t walk(std::span<const std::uint32_t> order, layout which, access_kind kind,
                     std::uint64_t passes) const noexcept;

 private:
  struct alignas(kLineBytes) line {
    std::array<std::uint32_t, 2> next;  ///< by layout
  };

  memory_region(std::span<line> lines, page_size size) noexcept : lines_(lines), size_(size) {}
  std::uint64_t chase(std::uint32_t first, std::size_t which, std::uint64_t steps) const noexcept;
  std::uint64_t add_up(std::span<const std::uint32_t> order, std::size_t which) const noexcept;

  std::span<line> lines_;
  page_size size_;
};

/// Returns what memory_region::walk() returns when it came by each line of `order` in each pass.
std::uint64_t checked_sum(std::span<const std::uint32_t> order, access_kind kind,
                          std::uint64_t passes) noexcept;

}  // namespace isotherm::lab
