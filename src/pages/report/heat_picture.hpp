// The heat map of an observation as a picture.
#pragma once

#include <string>

#include "pages/heat/map.hpp"
#include "pages/observe.hpp"

namespace isotherm::pages {

/// Returns the map of all windows.
heat_map heat_map_of(const observation& seen);

/// Returns an SVG: the largest mappings from top to bottom, windows from left to right, coloured by
/// the share of held bytes that was used. Requires a window, of grain::byte.
std::string to_heat_picture(const observation& seen);

}  // namespace isotherm::pages
