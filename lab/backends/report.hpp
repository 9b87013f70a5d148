// The result of a run under a backend, as a JSON object and as a row of a table.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/backends/options.hpp"
#include "lab/backends/run.hpp"

namespace isotherm::lab {

/// Returns the fields that tell what was run.
nlohmann::json settings_of(const backends_options& asked, const backends_run& run, unsigned round,
                           std::uint64_t seed);
/// Returns the fields of what was found.
nlohmann::json to_json(const backends_result& found);

/// Returns the line above the rows.
std::string backends_head();
/// Returns the row of a run, and one of each store where several ran side by side.
std::string backends_row(const backends_run& run, const backends_result& found);

}  // namespace isotherm::lab
