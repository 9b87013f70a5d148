// Moves what is left in sparse extents together, and what is used alike. What is dead in HOT takes
// DRAM, and goes whenever there is enough of it. What is dead in COLD takes disk or swap, and to
// make room there its neighbours are read from the disk: so that is bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/options.hpp"
#include "collector/statistics.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

/// Extents of COLD whose live share is lower may be emptied: it takes at most about twice what
/// lives in it, three times while much of it is used.
inline constexpr double kSparseColdShare = 0.5;

/// So much of HOT lives at least, after compaction. Where objects leave at random a byte that dies
/// costs about thirteen copied at worst, for the sparsest extents come first.
inline constexpr double kSparseHotShare = 0.93;

/// Whether less than `live_share` lives, and so much is dead that it is worth a visit of all
/// guides.
bool is_worth_compacting(const heap::packing& now, double live_share) noexcept;

/// Bytes of live objects, of `bytes_each` bytes in the mean, that the window may move within COLD.
/// As many objects as may be read there (options::misses_per_second), or half of what was promoted,
/// which leaves dead bytes behind; one batch at least.
std::uint64_t compaction_bytes(const options& chosen, const window_statistics& seen,
                               double bytes_each) noexcept;

/// Dead bytes of HOT that are to go: what is beyond the share that may be dead, and when memory is
/// short, what it is short by.
std::uint64_t hot_bytes_to_gain(const heap::packing& now, std::uint64_t short_bytes) noexcept;

/// A compaction of HOT.
struct hot_compaction {
  std::uint64_t short_bytes;     ///< by which DRAM exceeds its target
  std::uint64_t together_bytes;  ///< what may be in memory twice meanwhile
  std::uintptr_t end;  ///< extents below this address: behind it are objects that may yet leave
};

/// The sparsest extents of HOT that have so much dead, in groups of which no more than
/// `together_bytes` are in memory twice.
std::vector<heap::sparse_extents> sparse_hot(const hot_compaction& asked);
/// The sparsest of COLD, as far as `live_bytes` allow.
std::vector<heap::sparse_extents> sparse_cold(std::uint64_t live_bytes);

}  // namespace isotherm::collector
