// isotherm top: looks at a server again and again and shows what it sees.
#pragma once

#include <chrono>
#include <string>

#include "base/error.hpp"
#include "top/observation.hpp"

namespace isotherm::top {

struct top_options {
  std::string server;  ///< a socket's path or HOST:PORT
  credentials as;
  double interval_seconds = 1;
};

/// When to look again after a look that took from `began` to `ended`: an interval after it began,
/// but only when the server has had twenty times as long for others. A large store, of which a look
/// takes long, thus gives less than a twentieth of its time, whatever the interval.
std::chrono::steady_clock::time_point next_look(std::chrono::steady_clock::time_point began,
                                                std::chrono::steady_clock::time_point ended,
                                                std::chrono::milliseconds interval);

/// Prints one frame to standard output.
base::result<void> print_frame(const top_options& asked);

/// Draws on the terminal until the user quits. An error: no server, no terminal, or a server that
/// went away; the terminal is restored before it returns.
base::result<void> watch_server(const top_options& asked);

}  // namespace isotherm::top
