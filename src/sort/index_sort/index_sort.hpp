// What WiscSort (WiscSort 3.7) and those of its relatives share that differ from it only in how
// they load keys and gather values: their plans tell how.
#pragma once

#include <string>

#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Sorts by an index map: OnePass when it fits, MergePass when not, as the plan allows. Holds
/// pieces of the input meanwhile if the plan says so.
outcome sort_by_index(const context& ctx, const device::file& out,
                      const std::string& temporary_directory);

/// Why the index map of so many records can't be sorted by this plan; empty if it can.
std::string index_sort_obstacle(const plan& p, double records);

/// The most that the runs of an index map take at a time. Merges of several levels give back what
/// they have read as they go, all but parts of blocks at the bounds of runs; compressed runs that
/// could not be made smaller have headers all the same.
std::uint64_t index_run_bytes(const plan& p, const sort_options& o, std::uint64_t input_bytes,
                              std::uint64_t records);

}  // namespace isotherm::sort
