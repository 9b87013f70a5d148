// Memory for the nodes of placed trees: two ranges of addresses side by side, each with an arena of
// its own, so that an address tells its tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "placement/tier.hpp"

namespace isotherm::placement {

/// Memory nodes of the machine for the tiers; absent: wherever the system takes pages from.
struct memory_nodes {
  std::optional<unsigned> fast, slow;
};

/// Reserves the ranges; needed before anything else here. Does nothing when it has been done. Any
/// thread. They stay as long as the process.
base::result<void> open_node_memory(const memory_nodes& nodes = {});

namespace detail {
struct node_ranges {
  std::uintptr_t begin = 0;  ///< of the fast one, behind which the slow one lies
  std::size_t bytes = 0;     ///< of each
};
extern node_ranges ranges;
}  // namespace detail

/// False for whatever is no placed node.
inline bool is_fast(const void* node) noexcept {
  return reinterpret_cast<std::uintptr_t>(node) - detail::ranges.begin < detail::ranges.bytes;
}
inline bool is_slow(const void* node) noexcept {
  return reinterpret_cast<std::uintptr_t>(node) - detail::ranges.begin - detail::ranges.bytes <
         detail::ranges.bytes;
}

/// Returns the bytes that nodes may take of a tier's range. The rest, an eighth, is for work that
/// must not fail: a split under way, a merge, a node that moves.
inline std::uint64_t capacity() noexcept { return detail::ranges.bytes / 8 * 7; }
/// Whether a tree may grow. All nodes fit into slow memory, so that it is what counts.
bool has_node_room() noexcept;

/// Aligned to 16 bytes. Ends the process when the tier's range, or the system's memory, is used up:
/// whoever makes a tree grow asks has_node_room() first. How much of fast memory may be used is for
/// a placer to say, not for this.
void* allocate_node(tier where, std::size_t bytes) noexcept;
void deallocate_node(void* node) noexcept;
/// Deallocates a node whose place another one has taken, when all scopes that may have seen it have
/// closed. used_bytes() no longer counts it.
void retire_node(void* node) noexcept;

/// Addresses of a tier that were ever used: nodes lie in [begin, end).
struct address_range {
  std::uintptr_t begin = 0, end = 0;
};
address_range used_range(tier where) noexcept;

/// Returns the bytes that a node takes, as the arena rounds them up.
std::size_t bytes_of(const void* node) noexcept;
/// The same of any node that was allocated with so many bytes.
std::size_t bytes_taken_by(std::size_t bytes) noexcept;
/// Sum of bytes_of() over the nodes of a tier, but those that were retired.
std::uint64_t used_bytes(tier where) noexcept;
/// Bytes of the pages that nodes of a tier lie on, those that were retired and not freed yet too;
/// at least used_bytes().
std::uint64_t used_page_bytes(tier where) noexcept;
/// Makes the addresses of nodes depend on the order of calls alone, and not on time: free pages are
/// kept. For simulations.
void keep_free_pages() noexcept;

}  // namespace isotherm::placement
