// The use of memory over time: a row for each piece of the largest mappings, a column for each
// window (Dissertation, figure 4.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pages/heat/strip.hpp"

namespace isotherm::pages {

/// A piece of address space of heat_map::step bytes.
struct heat_row {
  memory_label label;
  std::uint64_t begin = 0;
};

/// One window, or several side by side where there are too many for a picture.
struct heat_column {
  std::size_t first = 0, last = 0;  ///< positions of the windows
  /// The share of the held bytes of each row that was used; nullopt where none were held.
  std::vector<std::optional<double>> shares;
};

struct heat_map {
  std::uint64_t step = 0;
  std::vector<heat_row> rows;  ///< the label that holds most first, then by address
  std::vector<heat_column> columns;
};

/// Most rows and columns of a map.
inline constexpr std::size_t kHeatRowsMost = 240, kHeatColumnsMost = 320;

/// Returns the map of the eight largest labels over all windows. O(cells * log cells).
heat_map make_heat_map(std::span<const heat_strip* const> windows);

}  // namespace isotherm::pages
