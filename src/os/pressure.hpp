// Pressure-stall information: how much time tasks lose waiting for memory.
#pragma once

#include <optional>
#include <string_view>

namespace isotherm::os {

/// Percentage of the last ten seconds in which at least one task of the system waited for memory
/// (`some avg10` of /proc/pressure/memory). nullopt where the kernel does not tell.
std::optional<double> memory_pressure_percent();

/// The same from a file's text, e.g. a control group's memory.pressure.
std::optional<double> parse_pressure(std::string_view text);

}  // namespace isotherm::os
