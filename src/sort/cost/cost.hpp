// The cost model: what an algorithm moves, divided by what the device gives to its threads.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

#include "device/model.hpp"
#include "sort/cost/processor.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// What the model says of one sort.
struct prediction {
  double seconds = 0;
  std::string runs;  ///< not empty: whether it would compress its runs, and why
};

/// How the keys are read: by how many threads, and what each access asks for.
struct key_load {
  device::access kind = device::access::sequential_read;
  unsigned streams = 1;
  double bytes = 0;  ///< of each record
  std::uint64_t stride = 0;
};
key_load load_of(const plan& p, const sort_options& o, double record_bytes);

/// Sums up the seconds of one algorithm's moves.
class cost {
 public:
  cost(const device::model& d, const plan& p, const processor_speed& cpu)
      : device_(d), plan_(p), call_ns_(p.map_input ? 0 : cpu.call_ns) {}

  void sequential(double bytes, unsigned writers = 0);
  void keys(const key_load& l, double records);
  /// Where the input is not mapped, each is a call, whose time an emulated device does not hide.
  void random(double bytes, double each, unsigned writers = 0);
  void written(double bytes);
  /// By threads that each read at random, then write what they have read: of the ways in which they
  /// can be split between the two, each is taken to be as likely.
  void mixed(double read, double each, double written, unsigned threads);
  void processor(double seconds) { total_ += seconds; }
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
