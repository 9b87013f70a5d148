// Results of a simulated run, as JSON objects and as lines of a table.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lab/tiers/simulation.hpp"

namespace isotherm::lab {

/// Returns one object for each latency of slow memory that the options name.
std::vector<nlohmann::json> rows_of(const tiers_options& asked, const tiers_run& run,
                                    unsigned round, std::uint64_t seed,
                                    const simulated_result& found);

void print_simulated_head(const nlohmann::json& first);
void print_simulated_row(const nlohmann::json& row);

}  // namespace isotherm::lab
