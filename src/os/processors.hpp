// How many processors this process may use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isotherm::os {

/// As many as its affinity names and the quotas of its control groups come to; 1 at least. Any
/// thread; reads files of /proc and /sys.
unsigned usable_processors();

/// What the quotas of the control groups named in `membership` come to, in processors, as
/// control_group_room() takes both. nullopt: there is none.
std::optional<double> control_group_processors(std::string_view membership,
                                               const std::string& mount);

}  // namespace isotherm::os
