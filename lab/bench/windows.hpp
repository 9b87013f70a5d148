// Keeps the samples of a run's windows, and shows the line of progress.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "lab/bench/options.hpp"
#include "lab/bench/report.hpp"
#include "lab/workload/meter.hpp"
#include "lab/workload/touched.hpp"

namespace isotherm::lab {

/// Thread-safe: a collector's thread ends windows while the driver's watches.
class window_recorder {
 public:
  explicit window_recorder(const bench_plan& plan);

  workload::touched_keys& used() noexcept { return used_; }
  workload::meters& counts() noexcept { return counts_; }

  /// To be called by the driver's watcher: shows.
  void watch(const workload::progress& now);

  /// Ends a window: completes `sample` (memory, heaps and rates are given) with times and with what
  /// the driver did and used, and keeps it.
  void end_window(window_sample sample);

  /// Seconds since the last window ended.
  double window_age() const;
  std::vector<window_sample> take() { return std::move(samples_); }
  bool is_empty() const;

 private:
  using clock = std::chrono::steady_clock;
  static double seconds(clock::duration d) { return std::chrono::duration<double>(d).count(); }

  const bench_plan& plan_;
  workload::touched_keys used_;
  workload::meters counts_;
  progress_line line_;
  mutable std::mutex mutex_;  ///< guards what follows
  clock::time_point began_ = clock::now();
  clock::time_point last_end_ = began_;
  workload::tally at_last_end_;
  bool is_warmup_ = true;
  std::vector<window_sample> samples_;
};

/// Loads the target, with a line of progress; returns the seconds it took.
base::result<double> load_with_progress(workload::target& store, const bench_plan& plan);

}  // namespace isotherm::lab
