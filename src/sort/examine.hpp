// Gathering the facts of one sort.
#pragma once

#include <isotherm/sort.hpp>

#include "device/model.hpp"
#include "sort/input/source.hpp"
#include "sort/plan/facts.hpp"

namespace isotherm::sort {

/// Estimates the records of `input`, measures the processor if `device` (may be null) is emulated,
/// and reads the limits of the process. Requires: check_options() accepts the options.
base::result<facts> examine(const source& input, const sort_options& options,
                            const device::model* device);

}  // namespace isotherm::sort
