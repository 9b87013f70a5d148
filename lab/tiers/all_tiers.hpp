// All runs of `isotherm bench tiers`.
#pragma once

#include "base/error.hpp"
#include "lab/tiers/tiers.hpp"

namespace isotherm::lab {

/// Runs all, each in a process of its own, prints them or appends them to asked.json.
base::result<void> run_all_tiers(const tiers_options& asked);

}  // namespace isotherm::lab
