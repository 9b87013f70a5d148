// Copies the whole input: the output of an input that is in order already, and the beginning of an
// algorithm that sorts its output in place.
#pragma once

#include "os/files/file.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Copies the whole input to `out`. Errors become the job's.
void copy_input(const context& ctx, const os::file& out);

}  // namespace isotherm::sort
