// Where a result comes from.
#pragma once

#include <nlohmann/json.hpp>

namespace isotherm::harness {

/// "origin" of a result: command (as a shell takes it), processor, processors, memory_bytes, system
/// and date (of now, UTC). Any thread.
nlohmann::json origin();

}  // namespace isotherm::harness
