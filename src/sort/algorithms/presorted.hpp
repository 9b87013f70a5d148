// Inputs that are in order already, or exactly the wrong way round: a scan finds out, a copy does
// the rest, whatever the memory limit.
#pragma once

#include "sort/job.hpp"
#include "sort/plan.hpp"
#include "sort/records.hpp"

namespace isotherm::sort {

/// Copies the input's fixed records if they are in order already, or backwards if they stand the
/// wrong way round and no two keys are equal (equal ones must not change places). Otherwise false:
/// samples tell that soon for most inputs. Errors are the job's.
bool copy_presorted(job& j, const plan& p, const source& in, const record_layout& layout,
                    const device::file& out);

}  // namespace isotherm::sort
