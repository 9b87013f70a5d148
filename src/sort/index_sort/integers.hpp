// Records that are keys of at most 8 bytes and nothing else: integers, which need no index map.
#pragma once

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Sorts in the memory that the plan provides; only if `p.integers`. Errors become the job's.
void sort_integers(const context& ctx, const os::file& out, outcome& o);

}  // namespace isotherm::sort
