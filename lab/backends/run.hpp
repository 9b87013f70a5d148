// Runs stores under a backend.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/backends/options.hpp"
#include "lab/backends/system/control_group.hpp"
#include "lab/backends/system/system_changes.hpp"

namespace isotherm::lab {

/// The result of a run.
struct backends_result {
  std::vector<nlohmann::json> stores;  ///< what each store reports (store.cpp)
  std::uint64_t dram_bytes = 0;  ///< at the end: fast_bytes(), or the group's or the processes'
                                 ///< memory and what zram takes
  std::uint64_t most_dram_bytes = 0;  ///< in the measured time
  std::uint64_t zram_bytes = 0;       ///< of dram_bytes
  std::uint64_t foreign_bytes = 0;    ///< charged to the group and left out of dram_bytes
  // nullopt: there is no control group.
  std::optional<group_memory> group;      ///< at the end; counts of the measured time
  std::optional<double> stalled_percent;  ///< of the measured time
  double seconds = 0;                     ///< from the backend's start to the end
  nlohmann::json counters;                ///< rows of /proc/vmstat, from the backend's start on
  nlohmann::json details;                 ///< of the backend
};

/// Returns why a backend cannot run here and how to change that; empty: it can.
std::string why_not(const backends_run& run);

/// Runs the stores, each in a process of its own, under the backend. Undoes its changes of the
/// system. Errors: ECANCELED when `stop` is requested; a store died, or the system refuses what the
/// backend needs. Takes --settle, --adapt and --seconds, and the time of the loads.
base::result<backends_result> run_backed(const backends_options& asked, const backends_run& run,
                                         system_changes& changes, const std::stop_token& stop);

}  // namespace isotherm::lab
