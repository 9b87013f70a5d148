// What the user asked of `isotherm sort`.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

#include "cli/parser/command.hpp"

namespace isotherm::cli {

/// The flags, as given.
struct sort_arguments {
  sort_options options;
  std::string input, output, memory, separator = "\t", json;
  bool klv = false, lines = false, progress = false, explain = false, not_durable = false;
};

/// Adds the arguments to `described`; they are read into `given`, which must outlive it.
void add_sort_arguments(command described, sort_arguments& given);

/// Completes given.options with what is given as text, and checks it. A mistake fails the command.
void understand(sort_arguments& given);

}  // namespace isotherm::cli
