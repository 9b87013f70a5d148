// The options of `isotherm bench trace`.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "lab/bench/options.hpp"
#include "lab/traces/source.hpp"

namespace isotherm::replay {

/// The flags, as given; the defaults are the documented ones.
struct replay_options {
  std::string trace;  ///< a file that can be read several times
  traces::file_options how;
  std::uint64_t requests = 0;  ///< that are replayed at most; 0: all
  double speed = 0;            ///< of the trace's clock; 0: at bench.rate, or as fast as possible
  bool no_fill = false;        ///< keys that are read before they are written are absent
  std::uint32_t value_size = 1024;  ///< bytes, of keys whose size the trace does not tell
  lab::bench_options bench;         ///< index, management, threads, rate, server, JSON
};

/// Checks what needs neither the trace nor a store. Errors name the flag.
base::result<void> check(const replay_options& asked);

}  // namespace isotherm::replay
