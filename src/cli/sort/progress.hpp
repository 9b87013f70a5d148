// The stages of a sort, on standard error.
#pragma once

#include <isotherm/sort.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace isotherm::cli {

/// One line for each stage that is new. On a terminal the line says the stage of the moment, its
/// percentage and how long it will still take; a stage that comes once more overwrites it.
class sort_progress {
 public:
  sort_progress();
  void operator()(sort_stage stage, std::uint64_t done, std::uint64_t total);
  /// Ends the line.
  void finish();

 private:
  const bool terminal_;
  unsigned seen_ = 0;
  std::string shown_;                                  // the line on the terminal
  std::array<std::uint64_t, kSortStages> began_ns_{};  // valid for the stages in seen_
};

}  // namespace isotherm::cli
