// The statistics of a window of the collector, and the table of its figures. Code that tells a
// figure by name (ISOTHERM STATS and COLLECT, INFO, reports) goes through the table: a new
// statistic is a member and a row.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/figure.hpp"
#include "base/page.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

/// Objects moved in one direction.
struct moves {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
};

/// One window. Counts are of this window unless they say "total".
struct window_statistics {
  std::uint64_t window = 0;   ///< number of the window, from 1
  double window_seconds = 0;  ///< time since the last window ended
  /// At the end of the window, with residency left out: the walk over all pages would make a
  /// window's cost follow the heap.
  heap::per_kind<heap::usage> heaps;
  std::uint64_t scanned_guides = 0;
  std::uint64_t accessed_objects = 0;
  std::uint64_t accessed_cold_objects = 0;  ///< of them in COLD
  std::uint64_t accessed_bytes = 0;         ///< bytes of objects accessed in the window
  std::uint64_t accessed_pages = 0;         ///< 4 KiB pages that hold at least one of them
  std::uint64_t accessed_cold_pages = 0;    ///< of them in COLD
  std::uint64_t read_past_bytes = 0;        ///< of accessed_bytes, read past pages of COLD
  std::uint64_t read_past_pages = 0;        ///< of accessed_cold_pages, which stayed out of DRAM
  double page_utilization = 0;              ///< of the others: bytes / (pages * 4096), 0..1
  std::uint64_t working_set_pages = 0;      ///< pages accessed
  double promotion_rate = 0;                ///< a minute; 0.01 = 1% (OBASE 3.4)
  double cold_rest_seconds = 0;             ///< mean time between two uses of a COLD page; infinite
                                            ///< when none was used
  unsigned cold_threshold = 0;              ///< for the next window, 1..31; 0 with policy budget
  double kept_rate = 0;       ///< uses a window and page of DRAM from which an object is kept there
  unsigned rate_windows = 0;  ///< windows that the rates of use are the mean of
  std::uint64_t resident_bytes = 0;       ///< resident set when the window ended
  std::uint64_t memory_target_bytes = 0;  ///< what it was to be held to; 0: nothing
  moves promoted, demoted, compacted;
  std::uint64_t vetoed = 0;     ///< moves given up because a thread used the object
  std::uint64_t failed = 0;     ///< moves given up because the target heap was full, or the disk
                                ///< does not give the object
  std::uint64_t held_back = 0;  ///< moves to COLD put off to respect its device (write_cost.hpp)
  std::uint64_t abandoned_epochs = 0;  ///< waits for scopes that outlasted their bound
  std::uint64_t hinted_bytes = 0;      ///< COLD bytes asked to leave DRAM in this window
  std::string page_out_problem;        ///< why the hint can't help, in one line; else empty
  std::string callback_problem;        ///< what on_window()'s callback threw; else empty
  double scan_seconds = 0;
  double move_seconds = 0;
  double page_out_seconds = 0;
  double collector_cpu_seconds = 0;  ///< processor time of the collector's thread in this window
  /// Sums over all windows, this one included, in the order of statistic_table(): of the rows that
  /// is_summed; 0 for others. Empty before the first window.
  std::vector<double> totals;
};

/// Returns `seen` with its totals: those of the window before it, and what it counts itself.
window_statistics with_totals(window_statistics seen, const window_statistics& before);

/// Page utilization of the pages that were used where they lie: an object that was read past its
/// page touched none.
constexpr double page_utilization_of(const window_statistics& seen) noexcept {
  return base::page_utilization(seen.accessed_bytes - seen.read_past_bytes,
                                seen.accessed_pages - seen.read_past_pages);
}

/// Calls `callback`. Returns what it threw, in one line; empty: nothing.
std::string problem_of(const std::function<void(const window_statistics&)>& callback,
                       const window_statistics& seen);

struct statistic : base::figure_of<window_statistics, std::variant<std::uint64_t, double>> {
  /// Decimals in INFO, which is for people and tells a part; nullopt: not told there.
  std::optional<unsigned> info_decimals;
  bool is_summed;  ///< a count or a time of the window, of which the sum over windows means
                   ///< something
  /// Reads it from a text; false when that is no such number.
  bool (*set)(window_statistics&, std::string_view text);
};

std::span<const statistic> statistic_table() noexcept;

}  // namespace isotherm::collector
