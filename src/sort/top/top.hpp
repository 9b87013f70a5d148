// --top by one pass over the input: each thread keeps the first records of those that it reads.
#pragma once

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Writes the records or groups that --top asks for to `out`. Requires: the plan has
/// selection_threads. Returns false if the records do not fit in the memory or a record is cut:
/// nothing is written then. Errors become the job's.
bool select_top(const context& ctx, const os::file& out, outcome& o);

}  // namespace isotherm::sort
