// Sorting entries of an index map that do not hold their whole keys.
#pragma once

#include <span>

#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Sorts `entries`, in any order, by their whole keys. If the sort wants each key once, the first
/// record of each key is kept, in front. Returns how many entries are kept. Runs on the plan's
/// sorting threads; errors become the job's, and leave the entries in any order.
std::size_t sort_run(const context& ctx, std::span<entry> entries);

}  // namespace isotherm::sort
