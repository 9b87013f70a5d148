// The scan at the end of a window: what was accessed, what aged, what should move.
#pragma once

#include <vector>

#include "collector/classify.hpp"
#include "collector/protocol.hpp"
#include "collector/statistics.hpp"
#include "collector/touched_pages.hpp"
#include "guide/soda.hpp"

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

/// What the scan does to one guide. The options and the results must outlive it.
class window_scan final : public guides::slot_visitor {
 public:
  window_scan(const scan_options& options, scan_result& result, window_statistics& statistics)
      : options_(options), result_(result), statistics_(statistics) {}

  guides::verdict visit(guides::slot_word& slot) override { return age(slot, slot.load_acquire()); }

  /// Replaces `seen`, the word as it was read, by what the window's end makes of it, in one
  /// attempt: a word that changed meanwhile belongs to a warm object, so it is left as it is, moves
  /// nowhere and stays due for the next window (pitfall 6).
  guides::verdict age(guides::slot_word& slot, guides::word seen);

 private:
  void record_access(guides::word w);
  void list_candidate(guides::slot_word& slot, guides::word w, const classification& outcome);

  const scan_options& options_;
  scan_result& result_;
  window_statistics& statistics_;
};

/// Visits every due guide in INACTIVE with a window_scan, and counts the guides. `result` holds
/// this scan's findings only.
void scan(const scan_options& options, scan_result& result, window_statistics& statistics);

/// Adds guides of COLD objects in sparse extents to `result.compactions`. Visits every guide: for
/// when much of COLD is dead.
void find_cold_compactions(scan_result& result);

}  // namespace isotherm::collector
