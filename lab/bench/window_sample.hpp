// A window of a run: a row of its report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/statistics.hpp"
#include "heap/usage.hpp"
#include "lab/workload/meter.hpp"

namespace isotherm::lab {

/// The driver's work in a time, in a hundred bytes.
struct driven_summary {
  std::uint64_t operations = 0;
  std::uint64_t waited = 0;  ///< of them, those that waited for a disk or for swap
  std::uint64_t misses = 0;  ///< objects of COLD and pages (major faults) that they waited for
  struct {
    double p50 = 0, p90 = 0, p99 = 0, p999 = 0, mean = 0, max = 0;
  } latency_us;  ///< quantiles, mean and greatest
};
driven_summary summary_of(const workload::tally& sums);
/// Share of the requests that waited for a disk or for swap.
double miss_ratio_of(const driven_summary& driven) noexcept;

/// Misses that others would have had, as shares of the requests (harness/bench/bounds.hpp).
struct miss_bounds {
  double object_lru = 0;
  double best_static = 0;
};

/// The driver's work in a window, and the memory of the store at its end. Values that a target
/// cannot tell are absent.
struct window_sample {
  double at_seconds = 0;  ///< since the warm-up began
  double seconds = 0;     ///< length of the window
  bool is_warmup = false;
  driven_summary driven;              ///< in the window
  std::vector<std::uint64_t> done;    ///< requests of each thread since the warm-up began
  std::optional<miss_bounds> bounds;  ///< at the DRAM that holds records now
  std::uint64_t rss_bytes = 0;
  std::uint64_t rss_peak_bytes = 0;
  std::uint64_t dram_bytes = 0;
  std::uint64_t used_bytes = 0;  ///< bytes of the objects that the driver used in the window
  unsigned cold_threshold = 0;   ///< the collector's, or as asked for
  std::optional<double> page_utilization;
  std::optional<collector::window_statistics> seen;  ///< by the collector
  std::optional<heap::per_kind<heap::usage>> heaps;
};

/// DRAM that holds records: resident bytes of NEW, HOT and COLD. Absent without heaps.
std::optional<std::uint64_t> held_bytes(const window_sample& sample);

}  // namespace isotherm::lab
