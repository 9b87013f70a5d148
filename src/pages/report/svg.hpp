// Parts that the pictures have in common.
#pragma once

#include <string>
#include <string_view>

namespace isotherm::pages {

/// Returns a text as XML has it; control characters are left out.
std::string svg_escaped(std::string_view text);

/// Returns the begin of a picture: its size in pixels, a white ground, a title and a line below it.
std::string svg_begin(double width, double height, std::string_view title, std::string_view line);

}  // namespace isotherm::pages
