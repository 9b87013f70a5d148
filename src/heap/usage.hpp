// Bytes that the heaps hold, where they lie, and the DRAM that the process takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/figure.hpp"
#include "heap/kind.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::heap {

/// Half-open address range of a heap.
struct range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool contains(const void* p) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return address >= begin && address < end;
  }
};
range range_of(kind where) noexcept;
/// For each MiB of a heap of objects, from its begin up to used_end(): whether an object lives
/// there. If none does the addresses have been given back, or are about to be. Any thread; a row a
/// MiB.
std::vector<bool> used_mebibytes(kind where);
/// Highest address used so far in the heap: pages lie in [range.begin, this).
std::uintptr_t used_end(kind where) noexcept;

/// Counters of one heap.
struct usage {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;           ///< sum of room_of() over the objects; of nodes, as rounded up
  std::uint64_t extent_bytes = 0;    ///< bytes of the extents that the heap holds
  std::uint64_t resident_bytes = 0;  ///< of the extents' bytes, those in DRAM
};
std::span<const base::figure_of<usage>> usage_table() noexcept;

/// Finding out what is in DRAM takes a walk over all pages of the heap.
enum class residency : std::uint8_t {
  measured,
  left_out  ///< `resident_bytes` stays 0
};
usage usage_of(kind where, residency resident = residency::measured);

/// Allocations refused because a range or its disk was full, since start; of NODE, which aborts
/// instead, 0.
std::uint64_t refused_allocations(kind where) noexcept;
/// The errno of the last one that COLD's backing refused (ENOSPC, EDQUOT, EFBIG); 0: none did.
int cold_refusal_code() noexcept;

/// Gives the room in NEW and HOT that waits for a next object, the free pages of NODE, and what the
/// calling thread's cache keeps of them, back to the system now; jemalloc does so with NODE's by
/// itself within ten seconds or so of further allocation, not when the heap falls idle. Any thread;
/// walks the arena.
void trim() noexcept;

/// The resident set, as os::read_resident_set() gives it, without a direct COLD, whose pages are
/// not in DRAM and yet counted, except by kernels that leave DAX out. Some microseconds. Any
/// thread.
os::resident_set dram_set();

/// The bytes that this process holds in DRAM. The resident set alone would flatter an anonymous
/// COLD: its pages can be unmapped and yet stay in the swap cache. And it counts mapped pages once,
/// which residency (mincore) counts too: so COLD is taken out of the one and put in from the other.
struct footprint {
  std::uint64_t rss = 0;
  std::uint64_t rss_peak = 0;
  std::uint64_t dram = 0;  ///< resident set and, beyond it, COLD's pages in the swap cache; not
                           ///< the pages of a direct COLD
};

std::span<const base::figure_of<footprint>> footprint_table() noexcept;

/// `cold_resident_bytes` is usage_of(kind::cold).resident_bytes, taken at about the same time.
footprint read_footprint(std::uint64_t cold_resident_bytes);
/// Reads the footprint of a process without heaps, and creates none.
footprint read_footprint_without_heaps();

}  // namespace isotherm::heap
