// Results of a simulated run, as JSON objects and as lines of a table.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lab/tiers/simulation.hpp"

namespace isotherm::lab {

/// Returns one object for each latency of slow memory that the options name. Every object has the
/// fields of `settings`, which tell what was run.
std::vector<nlohmann::json> rows_of(const tiers_options& asked, const nlohmann::json& settings,
                                    const simulated_result& found);

void print_simulated_head(const nlohmann::json& first);
void print_simulated_row(const nlohmann::json& row);

}  // namespace isotherm::lab
