// The stages of a sort, on standard error.
#pragma once

#include <isotherm/sort.hpp>

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
  std::string time_left(double part) const;

  const bool terminal_;
  unsigned seen_ = 0;
  std::string shown_;  // the line on the terminal
  std::string stage_;  // its stage, and when that began
  std::uint64_t began_ns_ = 0;
};

}  // namespace isotherm::cli
