// Inputs that are in order already, or exactly the wrong way round: a scan finds out, a copy does
// the rest, whatever the memory limit.
#pragma once

#include "sort/job.hpp"
#include "sort/plan.hpp"
#include "sort/records.hpp"

namespace isotherm::sort {

enum class input_order { none, sorted, reversed };

/// The order of the input's fixed records. `reversed` only if no two keys are equal: equal ones
/// must not change places. Looks at samples first, so that the answer costs nothing for most
/// inputs.
input_order find_order(job& j, const plan& p, const source& in, const record_layout& layout);

/// Writes the input's fixed records from the last to the first.
void copy_reversed(job& j, const plan& p, const source& in, const record_layout& layout,
                   const device::file& out);

}  // namespace isotherm::sort
