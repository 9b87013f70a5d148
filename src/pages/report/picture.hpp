// The distribution of pages over their utilization as a picture.
#pragma once

#include <string>

#include "pages/observe.hpp"

namespace isotherm::pages {

/// Returns an SVG of the last window: which share of the touched pages, of 4 KiB and as if of 2
/// MiB, is used to at most so many per cent (Dissertation, figure 4.1). Requires a window, of
/// grain::byte.
std::string to_picture(const observation& seen);

}  // namespace isotherm::pages
