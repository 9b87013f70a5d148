// Trees whose searches are counted in place of timed.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "index/index.hpp"

namespace isotherm::lab {

/// Makes an index as index::make_placed() does with plain pointers. Its searches count in
/// `counted_visits` of the calling thread.
base::result<index::placed_index> make_simulated(std::string_view name, placement::placer& chooser);

}  // namespace isotherm::lab
