// The cost model: the bytes that an algorithm moves, divided by the bandwidth that the device gives
// its threads.
#pragma once

#include <isotherm/sort.hpp>

#include <string>
#include <vector>

#include "device/model.hpp"
#include "sort/cost/processor.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// The model's prediction for one sort.
struct prediction {
  double seconds = 0;
  std::string runs;                  ///< not empty: whether it would compress its runs, and why
  std::vector<sort_place> places{};  ///< that it would write runs to
};

/// Runs that lie in the plan's directories: the first takes what it has room for, and so on.
struct runs_cost {
  std::vector<sort_place> places;
  run_seconds seconds;  ///< to write all of them and to read them, once
};
/// The cost of `bytes` of runs; on `main`, the device of input and output, by a plan without
/// directories.
runs_cost cost_of_runs(const plan& p, const device::model* main, double bytes);

/// How keys are read: the kind of access, by how many threads, and how much at a time.
struct key_load {
  device::access kind = device::access::sequential_read;
  unsigned streams = 1;
  double bytes = 0;  ///< read for each record
  std::uint64_t stride = 0;
};
key_load load_of(const plan& p, const sort_options& o, double record_bytes);

/// Sums up the seconds of one algorithm's accesses and of its work on the processor.
class cost {
 public:
  cost(const device::model& d, const plan& p, const processor_speed& cpu)
      : device_(d), plan_(p), call_ns_(p.map_input ? 0 : cpu.call_ns) {}

  /// Reads `bytes` in sequence, while `writers` threads write.
  void sequential(double bytes, unsigned writers = 0);
  void keys(const key_load& l, double records);
  /// Reads `bytes` at random, `each` at a time. Each read of an input that is not mapped is a call;
  /// the calls take their time in parallel to the device, and the longer of the two counts.
  void random(double bytes, double each, unsigned writers = 0);
  void written(double bytes);
  /// Threads that each read at random, then write what they have read. At any moment each number of
  /// readers among them is taken to be equally likely.
  void mixed(double read, double each, double written, unsigned threads);
  /// Adds work of the processor or of another device; less than 0: what goes on beside the rest.
  void seconds(double s) { total_ += s; }
  double total() const noexcept { return total_; }

 private:
  void add(double bytes, double bandwidth) { total_ += bandwidth > 0 ? bytes / bandwidth : 0; }

  const device::model& device_;
  const plan& plan_;
  const double call_ns_;
  double total_ = 0;
};

/// Bandwidth that a finished stage reached, over what the device gives to such accesses.
double device_share(const stage_report& stage, const plan& p, const sort_options& options,
                    const device::model& device, double record_bytes);

}  // namespace isotherm::sort
