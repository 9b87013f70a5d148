// --check: reads the input and the output again and compares them.
#pragma once

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Checks that the output is in order and, unless records were left out, holds the records of the
/// input. A failure becomes the job's error. Reads in pieces that fit the plan's buffers.
void verify(const context& ctx, const os::file& out, const outcome& o);

}  // namespace isotherm::sort
