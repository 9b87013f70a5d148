// The choice of a plan: on an emulated device by the cost model, elsewhere by a rule.
#pragma once

#include <isotherm/sort.hpp>

#include "sort/cost/cost.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

struct choice {
  sort::plan plan;
  prediction predicted;  ///< zeros: the device is not emulated
};
/// Plans the user's algorithm. For `automatic` plans, on an emulated device, the algorithm that the
/// cost model finds cheapest; elsewhere, by a rule from measurements, `automatic` (OnePass if the
/// index map fits, MergePass if not, or parts of the order) or external merge sort.
base::result<choice> choose(const sort_options& options, const facts& known);

}  // namespace isotherm::sort
