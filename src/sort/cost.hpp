// The cost model: what an algorithm moves, divided by what the device gives (DESIGN.md 4).
#pragma once

#include <isotherm/sort.hpp>

#include "device/model.hpp"
#include "sort/plan.hpp"

namespace isotherm::sort {

/// What --device names: numbers, and whether a device with them is to be emulated.
struct device_choice {
  bool known = false;
  bool emulated = false;
  device::model numbers;
};
base::result<device_choice> find_device(const std::string& name);

struct algorithm_choice {
  sort_algorithm algorithm = sort_algorithm::automatic;
  double predicted_seconds = 0;  ///< 0: no profile to predict from
};
/// The user's algorithm, or for `automatic` the one that the cost model finds cheapest. Without a
/// profile `automatic` stays: OnePass if the index map fits, MergePass if not.
base::result<algorithm_choice> choose(const sort_options& options, std::uint64_t input_bytes,
                                      const device::model* device);

/// Time of the whole sort by the model; `entry_ns` is the processor's time to sort one entry.
double predict(const plan& p, const sort_options& options, std::uint64_t input_bytes,
               const device::model& device, double entry_ns);

/// Bandwidth that a finished stage reached, over what the device gives to such accesses.
double device_share(const stage_report& stage, const plan& p, const sort_options& options,
                    const device::model& device);

}  // namespace isotherm::sort
