// Moves what is left in sparse extents together, and what is used alike. What is dead in HOT takes
// DRAM, and goes whenever there is enough of it. What is dead in COLD takes disk or swap, and to
// make room there its neighbours are read from the disk: so that is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "collector/migration.hpp"
#include "collector/options.hpp"
#include "collector/scan.hpp"
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

/// Empties extents, some at a time. Each function is false when moving should end for this window.
class compaction {
 public:
  /// All must outlive it; `candidates`: to work with.
  compaction(migration& moves, const policy& decides, std::vector<candidate>& candidates,
             std::function<bool()> stop)
      : moves_(moves), policy_(decides), candidates_(candidates), stop_(std::move(stop)) {}

  /// The sparsest extents of HOT that have so much dead.
  bool compact_hot(const hot_compaction& asked);
  /// Those extents of HOT that have most in the wrong band, as many as a window of so many seconds
  /// has time for: their objects go to extents of their bands. No more than some extents are in
  /// memory twice.
  bool sort_hot(hot_order& order, double seconds);
  /// The sparsest of COLD, as far as `live_bytes` allow, in the order of their pages, so that each
  /// is read once.
  bool compact_cold(std::uint64_t live_bytes);

 private:
  using search = void (*)(const policy&, const heap::sparse_extents&, guides::progress&,
                          std::vector<candidate>&);
  bool empty(const heap::sparse_extents& extents, search find);

  migration& moves_;
  const policy& policy_;
  std::vector<candidate>& candidates_;
  const std::function<bool()> stop_;
};

}  // namespace isotherm::collector
