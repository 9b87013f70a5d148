// Drives a target with threads: loads it, warms it up, and measures.
//
// Closed loop: each thread sends its next request when the last was answered. Open loop (a rate):
// requests have intended start times, evenly spaced over the threads, and a latency is counted from
// the intended start, so that a stall of the store delays, and is charged for, all requests that
// should have been sent meanwhile (Tene's "coordinated omission").
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.hpp"
#include "lab/workload/generators.hpp"
#include "lab/workload/meter.hpp"
#include "lab/workload/target.hpp"
#include "lab/workload/touched.hpp"
#include "lab/workload/ycsb.hpp"

namespace isotherm::workload {

/// The run to make.
struct plan {
  ycsb_workload workload;
  key_choice keys_by;              ///< which keys; its distribution wins over the workload's
  std::uint64_t keys = 1'000'000;  ///< records loaded before
  unsigned threads = 2;
  double rate = 0;            ///< requests a second, all threads together; 0: closed loop
  double seconds = 10;        ///< measured
  double warmup_seconds = 0;  ///< before, not measured
  std::uint64_t seed = 1;     ///< the same: the same requests; they never begin anew within a run
};

/// The threads' work in the measured time.
struct outcome {
  double seconds = 0;
  tally sums;  ///< of what was begun in it; missing and corrupt records, of the warm-up too
  std::vector<std::uint64_t> done_before;  ///< requests of each thread in the warm-up
  std::vector<std::uint64_t> done;         ///< and at the end, since the warm-up began

  double throughput() const noexcept {
    return seconds > 0 ? static_cast<double>(sums.operations()) / seconds : 0;
  }
};

/// State of a run for its watcher.
struct progress {
  double seconds = 0;            ///< since the phase began
  std::uint64_t operations = 0;  ///< since the phase began
  bool is_warmup = false;
};
/// Called about twenty times a second in the thread that called run() or load(). False ends the
/// run early.
using watcher = std::function<bool(const progress&)>;

/// Returns a checksum of each thread's first batch of requests: the same for the same plan.
std::uint64_t checksum_of_requests(const plan& chosen);

/// Inserts records 0 .. plan.keys - 1 with plan.threads threads.
base::result<void> load(target& store, const plan& chosen, const watcher& watch);

/// Runs the plan over a loaded store. Counts in `counts`, which has plan.threads meters of nothing
/// yet, warm-up included, and marks used keys in `used`. Fails when an operation fails.
base::result<outcome> run(target& store, const plan& chosen, meters& counts, touched_keys& used,
                          const watcher& watch);

}  // namespace isotherm::workload
