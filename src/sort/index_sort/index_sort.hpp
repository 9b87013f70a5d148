// The sort by an index map, which WiscSort (WiscSort 3.7) shares with the algorithms that load keys
// and gather values differently: their plans say how.
#pragma once

#include <string>

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Sorts by an index map: OnePass if it fits, MergePass if not, as far as the plan allows. Holds
/// pieces of the input in memory meanwhile if the plan says so.
outcome sort_by_index(const context& ctx, const os::file& out);

/// Why the index map of `records` records cannot be sorted by this plan; empty if it can.
std::string index_sort_obstacle(const plan& p, double records);

/// The most bytes that the runs of an index map take at any time. Merges of several levels give
/// back what they have read, except parts of blocks at the ends of runs; runs that compression does
/// not make smaller still have the headers of its blocks.
std::uint64_t index_run_bytes(const plan& p, const sort_options& o, std::uint64_t input_bytes,
                              std::uint64_t records);

}  // namespace isotherm::sort
