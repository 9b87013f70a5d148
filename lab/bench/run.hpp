// The two ways to run a benchmark.
#pragma once

#include "base/error.hpp"
#include "lab/bench/options.hpp"
#include "lab/bench/report.hpp"

namespace isotherm::lab {

/// Over an index of this process. Configures the heaps: at most once a process.
base::result<bench_result> run_local(const bench_plan& plan);

/// Over the server at plan.asked.connect.
base::result<bench_result> run_remote(const bench_plan& plan);

}  // namespace isotherm::lab
