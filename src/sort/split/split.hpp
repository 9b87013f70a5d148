// Dividing an input by ranges of keys, in one pass by all threads.
#pragma once

#include "sort/plan/context.hpp"
#include "sort/split/boundaries.hpp"
#include "sort/split/part_files.hpp"

namespace isotherm::sort {

/// Appends each record of the input to its part. [place_begin, place_end) is where the input lies
/// in all that is divided by these boundaries. Returns the number of records. Errors become the
/// job's.
std::uint64_t split(const context& ctx, const boundaries& between, double place_begin,
                    double place_end, part_files& to);

}  // namespace isotherm::sort
