// The figures of a trace as a picture.
#pragma once

#include <string>

#include "lab/traces/analyze/figures.hpp"

namespace isotherm::traces {

/// An SVG of three plots: uses over time (a heat map), uses by rank with the fitted Zipf law, and
/// the spread of gaps by the size of values. `name` is the trace's.
std::string to_svg(const figures& found, const std::string& name);

}  // namespace isotherm::traces
