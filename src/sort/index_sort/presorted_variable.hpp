// Recognises klv records and lines that are in order, or in reverse order, and copies them.
#pragma once

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Copies klv records or lines under the contract of copy_presorted().
bool copy_presorted_variable(const context& ctx, const os::file& out, outcome& o);

}  // namespace isotherm::sort
