// Moves the candidates of a window, batch by batch.
#pragma once

#include <functional>
#include <span>

#include "collector/protocol.hpp"
#include "collector/statistics.hpp"

namespace isotherm::collector {

struct migration_limits {
  std::size_t batch_objects;
  std::uint64_t epoch_timeout_us;
};

/// Moves `candidates`, adding to the counters of `statistics`; what was to leave NEW for COLD but
/// has been used since the scan goes to HOT (it counts as vetoed and as promoted). `stop` is asked
/// between batches. An epoch that can't begin in time is tried again; several in a row (each
/// counted) end the work of this window.
void migrate(std::span<const candidate> candidates, migration_protocol& protocol,
             const migration_limits& limits, const std::function<bool()>& stop,
             window_statistics& statistics);

}  // namespace isotherm::collector
