// `isotherm bench backends`: all runs, and their reports.
#pragma once

#include <stop_token>

#include "base/error.hpp"
#include "lab/backends/options.hpp"

namespace isotherm::lab {

/// Checks the options. Errors name the flag.
base::result<void> check(const backends_options& asked);

/// Undoes what a killed run has left, and makes the runs that are asked for: for each round, stores
/// and backend, management off and on one after the other. A run that cannot be made is told on
/// standard error, and the others go on. Errors: ECANCELED when `stop` is requested; a run could
/// not be made.
base::result<void> run_all_backends(const backends_options& asked, const std::stop_token& stop);

}  // namespace isotherm::lab
