// The scan at the end of a window: what was accessed, what aged, what should move.
#pragma once

#include <vector>

#include "collector/protocol.hpp"
#include "collector/statistics.hpp"
#include "collector/touched_pages.hpp"

namespace isotherm::collector {

/// Reused from window to window; clear() gives its lists' memory back.
struct scan_result {
  std::vector<candidate> promotions, demotions, compactions;
  touched_pages pages;
  void clear() noexcept;
};

struct scan_options {
  unsigned cold_threshold;
  bool collect_candidates;  ///< false: only watch
  bool reset_counts;        ///< no tracking scope is open: counts that stayed behind may go
};

/// Visits every due guide in INACTIVE, clears accessed bits, ages the rest, and fills `result` and
/// the counters of `statistics`. A guide whose compare-and-swap fails is skipped, not retried
/// (pitfall 6).
void scan(const scan_options& options, scan_result& result, window_statistics& statistics);

/// Adds guides of COLD objects in sparse extents to `result.compactions`. Visits every guide: for
/// when much of COLD is dead.
void find_cold_compactions(scan_result& result);

}  // namespace isotherm::collector
