// Which algorithm is taken: on an emulated device by the cost model (what an algorithm moves,
// divided by what the device gives), elsewhere by a rule.
#pragma once

#include <isotherm/sort.hpp>

#include "device/model.hpp"
#include "sort/plan.hpp"
#include "sort/source.hpp"

namespace isotherm::sort {

/// What --device names: numbers, and whether a device with them is to be emulated.
struct device_choice {
  bool known = false;
  bool emulated = false;
  device::model numbers;
};
base::result<device_choice> find_device(const std::string& name);

/// What predictions need to know of an input.
struct input_facts {
  std::uint64_t bytes = 0;
  double record_bytes = 100;  ///< on average; of klv and lines from a sample
};
base::result<input_facts> examine(const source& input, const sort_options& options);

/// What this processor does, measured when asked.
struct processor_speed {
  double sort_ns = 0;          ///< to sort one entry, on one thread
  double merge_entry_ns = 0;   ///< to merge one entry of an index map
  double merge_record_ns = 0;  ///< to merge one whole record
  coding_cost coding;          ///< of a run of random keys
  double call_ns = 0;          ///< of a call that reads a record
};
/// For a sort of `input`, of which `facts` are known.
processor_speed measure_processor(const source& input, const input_facts& facts);

struct algorithm_choice {
  sort_algorithm algorithm = sort_algorithm::automatic;
  double predicted_seconds = 0;  ///< 0: the device is not emulated
};
/// The user's algorithm; for `automatic` on an emulated device the one that the cost model finds
/// cheapest, elsewhere what a measured rule says: `automatic` stays (OnePass if the index map fits,
/// MergePass if not), or MergePass, or external merge sort.
base::result<algorithm_choice> choose(const sort_options& options, const source& input,
                                      const device::model* device);

/// What the runs of an index map will come to.
struct run_forecast {
  double runs = 0;          ///< 0: it fits
  double entry_passes = 1;  ///< how often each entry is written and read
  double plain_bytes = 0;   ///< of an entry
  double coded_bytes = 0;
  coding_balance balance;  ///< of one entry, written and read once
  bool compressed = false;
};
run_forecast forecast_runs(const plan& p, const sort_options& options, const input_facts& input,
                           const processor_speed& processor);

/// Time of the whole sort by the model.
double predict(const plan& p, const sort_options& options, const input_facts& input,
               const device::model& device, const processor_speed& processor);

/// Bandwidth that a finished stage reached, over what the device gives to such accesses.
double device_share(const stage_report& stage, const plan& p, const sort_options& options,
                    const device::model& device, double record_bytes);

}  // namespace isotherm::sort
