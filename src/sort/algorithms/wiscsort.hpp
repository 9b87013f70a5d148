// WiscSort (WiscSort 3.7) and those of its relatives that differ from it only in how they load
// keys and gather values.
#pragma once

#include "sort/job.hpp"
#include "sort/plan.hpp"
#include "sort/records.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {

/// What a finished algorithm has to tell.
struct outcome {
  std::uint64_t records = 0;
  std::uint64_t records_written = 0;
  std::uint64_t bytes_written = 0;
  run_totals runs;
  sort_algorithm algorithm = sort_algorithm::onepass;
  std::string_view copied;                      ///< what ran instead of an algorithm
  std::string_view values = "with their keys";  ///< how they came
};

/// Sorts by an index map: OnePass when it fits, MergePass when not, as the plan allows. Holds
/// pieces of `in` meanwhile if the plan says so.
outcome sort_by_index(job& j, const plan& p, source& in, const device::file& out,
                      const std::string& temporary_directory);

/// External merge sort: runs of whole records. Fixed records only.
outcome merge_sort(job& j, const plan& p, const source& in, const device::file& out,
                   const std::string& temporary_directory);

/// Sample sort in place, on a copy of the input in the output. Fixed records only.
outcome sample_sort(job& j, const plan& p, const source& in, const device::file& out);

}  // namespace isotherm::sort
