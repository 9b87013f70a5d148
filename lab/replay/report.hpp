// The report of a replay.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/bench/report.hpp"
#include "lab/replay/options.hpp"
#include "lab/replay/survey.hpp"

namespace isotherm::replay {

/// A finished replay.
struct report {
  replay_options asked;
  survey seen;
  lab::bench_plan plan;  ///< the replay as a run of `bench ycsb`: threads, management, server
  lab::bench_result found;
  std::uint64_t filled = 0;   ///< keys that were inserted before
  std::uint64_t expired = 0;  ///< values that the driver removed
};

/// One object, with the fields of `bench ycsb` and some of its own.
nlohmann::ordered_json to_json(const report& of);
/// Some lines for a person, with a row for each of up to twenty windows.
std::string to_text(const report& of);

}  // namespace isotherm::replay
