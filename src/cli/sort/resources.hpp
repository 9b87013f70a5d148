// The share of the machine that a sort may take: memory, directories for temporary files,
// processors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/parser/command.hpp"

namespace isotherm {
struct sort_options;
}

namespace isotherm::cli {

/// The flags, as given.
struct resources {
  std::optional<std::string> memory, buffer_size;
  std::vector<std::string> directories;
  unsigned parallel = 0;
};

/// Adds the flags to `described`; they are read into `given`, which must outlive it.
void add_resources(command described, resources& given, sort_options& options);

/// Checks what is given, and puts it into `options`. A mistake fails the command.
void understand(const resources& given, sort_options& options);

}  // namespace isotherm::cli
