// How much of COLD a window compacts. What is dead in COLD takes no DRAM but disk or swap, and to
// make room there its neighbours are read from the disk: so that is bounded.
#pragma once

#include <cstdint>

#include "collector/options.hpp"
#include "collector/statistics.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

/// Extents whose live share is lower may be emptied: COLD takes at most about twice what lives in
/// it, three times while much of it is used.
inline constexpr double kSparseColdShare = 0.5;

/// Whether so much of COLD is dead that it is worth a visit of all guides.
bool is_worth_compacting(const heap::packing& cold) noexcept;

/// Bytes of live objects, of `bytes_each` bytes in the mean, that the window may move within COLD.
/// As many objects as may be read there (options::misses_per_second), or half of what was promoted,
/// which leaves dead bytes behind; one batch at least.
std::uint64_t compaction_bytes(const options& chosen, const window_statistics& seen,
                               double bytes_each) noexcept;

}  // namespace isotherm::collector
