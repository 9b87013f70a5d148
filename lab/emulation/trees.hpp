// Trees whose searches find slow nodes slow.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "index/index.hpp"

namespace isotherm::lab {

/// Makes an index as index::make_placed() does with plain pointers. Its searches find slow nodes
/// slow once emulate_slow_memory() was called.
base::result<index::placed_index> make_emulated(std::string_view name, placement::placer& chooser);

}  // namespace isotherm::lab
