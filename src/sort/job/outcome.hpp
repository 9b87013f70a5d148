// The report of an algorithm that has finished.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace isotherm::sort {

/// Totals of the runs of a sort, merged ones included.
struct run_totals {
  std::uint64_t runs = 0;
  std::uint64_t compressed = 0;     ///< how many of `runs`
  std::uint64_t bytes = 0;          ///< of their entries, packed but not compressed
  std::uint64_t bytes_written = 0;  ///< as they were written
};

struct outcome {
  std::uint64_t records = 0;
  std::uint64_t records_written = 0;
  std::uint64_t bytes_written = 0;
  run_totals runs;
  std::vector<sort_place> places{};  ///< of runs
  sort_algorithm algorithm = sort_algorithm::onepass;
  std::string_view instead;  ///< not empty: what ran instead of an algorithm, a copy or a selection
  std::string_view values = "with their keys";  ///< how they were read
};

}  // namespace isotherm::sort
