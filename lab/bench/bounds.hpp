// Bounds that the misses of a run stand beside: those of an LRU cache of records on the same
// requests, and those of the best fixed choice of records, with room for as many as the run's DRAM
// had.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/bench/options.hpp"
#include "lab/bench/window_sample.hpp"
#include "lab/workload/driver.hpp"

namespace isotherm::lab {

/// At room for a share of the records.
struct miss_point {
  double share = 0;
  miss_bounds misses;
};

struct bounds_report {
  /// DRAM that held records: resident bytes of NEW, HOT and COLD, the mean over the measured
  /// windows. Absent without heaps.
  std::optional<std::uint64_t> record_dram_bytes;
  std::optional<miss_bounds> misses;  ///< with room for so many bytes of records
  std::vector<miss_point> curve;      ///< at 5, 10 .. 95% of the loaded records
  std::uint64_t requests = 0;         ///< measured ones that were repeated
  double one_in = 1;                  ///< 1 in so many records was followed
  double seconds = 0;                 ///< that this took
};

/// Repeats the requests; completes the bounds of `windows`. Nothing for a workload that scans,
/// deletes, reads several records at once or counts, nor where records expire. After the run: it
/// takes both time and memory (workload/replay.hpp, workload/popularity.hpp).
std::optional<bounds_report> find_bounds(const bench_plan& plan, const workload::outcome& driven,
                                         std::vector<window_sample>& windows);

}  // namespace isotherm::lab
