// Memory nodes of a machine with several.
#pragma once

#include <cstddef>

#include "base/error.hpp"

namespace isotherm::os {

/// Pages of the range that are touched from now on come from the memory node of that number, as
/// long as it has some, and then from others. Whole pages. Fails where there is no such node.
base::result<void> prefer_node(void* begin, std::size_t bytes, unsigned node);

}  // namespace isotherm::os
