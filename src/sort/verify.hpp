// --check: reads input and output once more and compares what must agree.
#pragma once

#include "sort/job.hpp"
#include "sort/outcome.hpp"
#include "sort/plan.hpp"
#include "sort/source.hpp"

namespace isotherm::sort {

/// Whether the output is in order and, when nothing was left out, holds the input's records. Any
/// failure is the job's. Reads windows that fit the plan's buffers.
void verify(job& j, const plan& p, const source& in, const device::file& out, const outcome& o);

}  // namespace isotherm::sort
