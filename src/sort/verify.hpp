// --check: reads input and output once more and compares what must agree.
#pragma once

#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Whether the output is in order and, when nothing was left out, holds the input's records. Any
/// failure is the job's. Reads windows that fit the plan's buffers.
void verify(const context& ctx, const device::file& out, const outcome& o);

}  // namespace isotherm::sort
