// isotherm top: looks at a server again and again and shows what it sees.
#pragma once

#include <string>

#include "base/error.hpp"
#include "harness/top/observation.hpp"

namespace isotherm::harness {

struct top_options {
  std::string server;  ///< a socket's path or HOST:PORT
  credentials as;
  double interval_seconds = 1;
};

/// Prints one frame to standard output.
base::result<void> print_frame(const top_options& asked);

/// Draws on the terminal until the user quits. An error: no server, no terminal, or a server that
/// went away; the terminal is restored before it returns.
base::result<void> watch_server(const top_options& asked);

}  // namespace isotherm::harness
