// What a finished algorithm has to tell.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <string_view>

namespace isotherm::sort {

/// What the runs of a sort came to, merged ones included.
struct run_totals {
  std::uint64_t runs = 0;
  std::uint64_t compressed = 0;     ///< of these runs
  std::uint64_t bytes = 0;          ///< of their entries, packed
  std::uint64_t bytes_written = 0;  ///< instead of those
};

struct outcome {
  std::uint64_t records = 0;
  std::uint64_t records_written = 0;
  std::uint64_t bytes_written = 0;
  run_totals runs;
  sort_algorithm algorithm = sort_algorithm::onepass;
  std::string_view copied;                      ///< what ran instead of an algorithm
  std::string_view values = "with their keys";  ///< how they came
};

}  // namespace isotherm::sort
