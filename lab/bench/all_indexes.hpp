// isotherm bench ycsb --index all: one run for each index, side by side.
#pragma once

#include "base/error.hpp"
#include "lab/bench/options.hpp"

namespace isotherm::lab {

/// Runs this program again for each index that can run the workload, in a process of its own, so
/// that no index inherits the memory of the one before; all get the same requests. Prints a table
/// with a row an index, or, where `plan` asks for JSON, appends one array of the runs' objects.
/// Fails with the first run that does.
base::result<void> run_all(const bench_plan& plan);

}  // namespace isotherm::lab
