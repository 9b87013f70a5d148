// Names of the functions in call stacks.
#pragma once

#include <vector>

#include "pages/objects/figures.hpp"

namespace isotherm::pages {

enum class naming : unsigned char { done, no_addr2line };

/// Sets the functions of all sites of the figures, by addr2line of binutils: inlined ones, too, and
/// source lines where the file has debug information. A frame without a name is the file and the
/// offset in it. Takes some seconds for large files. Returns no_addr2line if that is not installed.
naming name_functions(const std::vector<object_figures*>& all);

}  // namespace isotherm::pages
