// Gathering the facts of one sort.
#pragma once

#include <isotherm/sort.hpp>

#include "sort/input/source.hpp"
#include "sort/plan/devices.hpp"
#include "sort/plan/facts.hpp"

namespace isotherm::sort {

/// Estimates the records of `input`, measures the processor if the device of input and output is
/// emulated, and reads the limits of the process. `on` must outlive the facts. Requires:
/// check_options() accepts the options.
base::result<facts> examine(const source& input, const sort_options& options, const devices& on);

}  // namespace isotherm::sort
