// Which algorithm is taken: on an emulated device by the cost model, elsewhere by a rule.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

#include "device/model.hpp"
#include "sort/cost/cost.hpp"
#include "sort/input/source.hpp"

namespace isotherm::sort {

/// What --device names: a device's numbers, and whether the device is to be emulated.
struct device_choice {
  bool known = false;
  bool emulated = false;
  device::model numbers;
};
base::result<device_choice> find_device(const std::string& name);

struct algorithm_choice {
  sort_algorithm algorithm = sort_algorithm::automatic;
  prediction predicted{};  ///< zeros: the device is not emulated
};
/// The user's algorithm. For `automatic`: on an emulated device the one that the cost model finds
/// cheapest; elsewhere the choice of a rule from measurements, which is MergePass, external merge
/// sort, or `automatic` (OnePass if the index map fits, MergePass if not).
base::result<algorithm_choice> choose(const sort_options& options, const source& input,
                                      const device::model* device);

}  // namespace isotherm::sort
