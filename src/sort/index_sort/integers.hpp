// Records that are keys of at most 8 bytes and nothing else: integers, which need no index map.
#pragma once

#include "sort/job.hpp"
#include "sort/outcome.hpp"
#include "sort/plan.hpp"
#include "sort/records.hpp"

namespace isotherm::sort {

/// Sorts in the memory that the plan has for it; only if `p.integers`. Errors are the job's.
void sort_integers(job& j, const plan& p, const source& in, const record_layout& layout,
                   const device::file& out, outcome& o);

}  // namespace isotherm::sort
