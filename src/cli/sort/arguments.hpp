// What the user asked of `isotherm sort`.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

namespace CLI {
class App;
}

namespace isotherm::cli {

/// The flags, as given.
struct sort_arguments {
  sort_options options;
  std::string input, output, memory, separator = "\t", json;
  bool klv = false, lines = false, progress = false, explain = false;
};

/// Adds the arguments to `command`; they are read into `given`, which must outlive it.
void add_sort_arguments(CLI::App& command, sort_arguments& given);

/// Completes given.options with what is given as text, and checks it. A mistake fails the command.
void understand(sort_arguments& given);

}  // namespace isotherm::cli
