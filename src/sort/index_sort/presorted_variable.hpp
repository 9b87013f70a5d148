// As presorted.hpp, for klv records and lines.
#pragma once

#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// As copy_presorted().
bool copy_presorted_variable(const context& ctx, const device::file& out, outcome& o);

}  // namespace isotherm::sort
