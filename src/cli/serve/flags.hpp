// The flags of `isotherm serve`.
#pragma once

#include "cli/parser/command.hpp"

namespace isotherm::cli {

struct serve_options;

/// Adds the flags to `described`; they are read into `given`, which must outlive it and holds their
/// defaults.
void add_serve_flags(command described, serve_options& given);

}  // namespace isotherm::cli
