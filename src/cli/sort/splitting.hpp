// Flags of `isotherm sort` that divide or sample the input in place of sorting it.
#pragma once

#include <isotherm/split.hpp>

#include <string>

#include "cli/parser/command.hpp"
#include "cli/sort/arguments.hpp"

namespace isotherm::cli {

/// The flags, as given.
struct splitting {
  unsigned parts = 0;
  std::string boundaries;
  std::uint64_t sample = 0;

  /// Whether the input is divided or sampled, and not sorted.
  bool asked() const noexcept { return parts != 0 || sample != 0; }
};

/// Adds the flags to `described`; they are read into `given`, which must outlive it.
void add_splitting(command described, splitting& given);

/// Refuses flags that do not fit together. A mistake fails the command.
void check(const splitting& given, const sort_arguments& with);

/// Divides or samples. Requires: given.asked() and check(). Returns the parts, none for a sample.
base::result<split_report> split_or_sample(const splitting& given, const sort_arguments& with);

std::string to_json(const split_report& report);
std::string to_text(const split_report& report);

}  // namespace isotherm::cli
