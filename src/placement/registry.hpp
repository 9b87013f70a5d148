// The list of all placements.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "placement/node_placement.hpp"

namespace isotherm::placement {

/// Returns the placements in the order in which they are listed to users.
std::span<const placement_kind* const> placement_kinds() noexcept;
std::vector<std::string_view> placement_names();

/// Makes the placement of that name. Requires: `name` is one of placement_names().
std::unique_ptr<node_placement> make_placement(std::string_view name, const fast_size& fast);

}  // namespace isotherm::placement
