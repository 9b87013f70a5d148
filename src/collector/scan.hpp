// The scan at the end of a window: what was accessed, what aged, what should move.
#pragma once

#include <vector>

#include "collector/classify.hpp"
#include "collector/protocol.hpp"
#include "collector/statistics.hpp"
#include "collector/touched_pages.hpp"
#include "guide/soda.hpp"

namespace isotherm::collector {

/// Reused from window to window.
struct scan_result {
  std::vector<candidate> candidates;
  touched_pages pages;
  /// For a next window; gives the list's memory back.
  void clear() noexcept;
};

struct scan_options {
  unsigned cold_threshold;
  bool collect_candidates;  ///< false: only watch
  bool reset_counts;        ///< no tracking scope is open: counts that stayed behind may go
  /// The scan pauses before its list of candidates grows beyond this, so that a first demotion of
  /// everything needs no list of everything.
  std::size_t list_bytes = std::size_t{1} << 20;
};

/// True when the candidates of another granule may not fit in `bytes`; of an empty list never.
inline bool is_full(const std::vector<candidate>& candidates, std::size_t bytes) noexcept {
  return !candidates.empty() &&
         (candidates.size() + guides::kGranuleSlots) * sizeof(candidate) > bytes;
}

/// What the scan does to one guide. The options and the results must outlive it.
class window_scan final : public guides::slot_visitor {
 public:
  window_scan(const scan_options& options, scan_result& result, window_statistics& statistics)
      : options_(options), result_(result), statistics_(statistics) {}

  guides::verdict visit(guides::slot_word& slot) override { return age(slot, slot.load_acquire()); }
  bool wants_pause() const noexcept override {
    return is_full(result_.candidates, options_.list_bytes);
  }

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

/// Visits due guides in INACTIVE with a window_scan, from `so_far` on until all are seen or the
/// list is full, and counts them. `result.candidates` holds this call's findings only.
void scan(const scan_options& options, guides::progress& so_far, scan_result& result,
          window_statistics& statistics);

/// Lists guides of COLD objects in sparse extents, from `so_far` on as above. Visits every guide:
/// for when much of COLD is dead.
void find_cold_compactions(std::size_t list_bytes, guides::progress& so_far, scan_result& result);

}  // namespace isotherm::collector
