// An input that is in order already, or that is put in order where the output lies.
#pragma once

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Copies the whole input to `out`. Errors are the job's.
void copy_input(const context& ctx, const device::file& out);

}  // namespace isotherm::sort
