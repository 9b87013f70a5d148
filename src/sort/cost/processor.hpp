// The speed of the processor, for predictions.
#pragma once

#include "sort/input/source.hpp"
#include "sort/plan/facts.hpp"

namespace isotherm::sort {

/// Measures the speed for a sort of `input`, which has these facts.
processor_speed measure_processor(const source& input, const input_facts& facts);

}  // namespace isotherm::sort
