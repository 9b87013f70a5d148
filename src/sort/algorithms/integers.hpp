// Records that are keys of at most 8 bytes and nothing else: integers, which need no index map.
#pragma once

#include "sort/algorithms/wiscsort.hpp"

namespace isotherm::sort {

/// Sorts in the memory that the plan has for it; only if `p.integers`. Errors are the job's.
void sort_integers(job& j, const plan& p, const source& in, const record_layout& layout,
                   const device::file& out, outcome& o);

}  // namespace isotherm::sort
