// Trees whose searches are counted in place of timed.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "index/index.hpp"

namespace isotherm::lab {

/// The place of a key and its value.
enum class record_place : std::uint8_t {
  outside,  ///< in objects of their own, which are in neither tier
  in_leaf   ///< in the leaf of `art`, which is as large as the paper's then
};

/// Makes an index as index::make_placed() does with plain pointers. Its searches count in
/// `counted_visits` of the calling thread. Requires: `name` is "art" for records in leaves.
base::result<index::placed_index> make_simulated(std::string_view name, placement::placer& chooser,
                                                 record_place records = record_place::outside);

}  // namespace isotherm::lab
