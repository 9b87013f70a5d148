// The policy of MEMTIS (Lee et al., SOSP 2023) over counts of pages of 4 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace isotherm::lab {

/// Pages by how often they were seen accessed. A pure class: it moves nothing. Thread: one.
class page_heat {
 public:
  /// Adds accesses to the page at this address.
  void add(std::uintptr_t page, std::uint32_t accesses) { counts_[page] += accesses; }
  /// Halves all counts, so that old accesses weigh less, and forgets pages whose count is zero.
  void cool();
  std::uint32_t count(std::uintptr_t page) const noexcept;

  /// Returns the count from which on a page is hot: the least power of two at which all hot pages,
  /// taken by bins of a histogram of powers of two, fit into `room` pages of fast memory.
  std::uint32_t hot_from(std::size_t room) const noexcept;

  struct moves {
    std::vector<std::uintptr_t> promoted;  ///< pages on slow nodes, the hottest first
    std::vector<std::uintptr_t> demoted;   ///< pages on fast nodes that make room for them
  };
  /// Returns what to move. `fast` and `slow` are the pages that lie there, `free` is how many more
  /// fast memory takes. A page of half of hot_from() is warm: it is promoted only where memory is
  /// free. The others on fast nodes leave only for hot pages, the coldest first.
  moves choose(std::span<const std::uintptr_t> fast, std::span<const std::uintptr_t> slow,
               std::size_t free) const;

 private:
  std::unordered_map<std::uintptr_t, std::uint32_t> counts_;
};

}  // namespace isotherm::lab
