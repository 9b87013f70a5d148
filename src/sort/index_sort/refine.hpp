// Keys that the entries of an index map do not hold whole: entries that are sorted as integers are
// brought into the order of their whole keys.
#pragma once

#include <span>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Puts `entries`, in any order, into the order of their whole keys. If the sort wants each key
/// once, the first record of each key is kept, in front. Returns how many entries there are then.
/// On the plan's sorting threads; errors are the job's, and leave the entries in any order.
std::size_t sort_run(const context& ctx, std::span<entry> entries);

}  // namespace isotherm::sort
