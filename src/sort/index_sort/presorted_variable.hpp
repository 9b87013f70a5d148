// As presorted.hpp, for klv records and lines.
#pragma once

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// As copy_presorted().
bool copy_presorted_variable(const context& ctx, const os::file& out, outcome& o);

}  // namespace isotherm::sort
