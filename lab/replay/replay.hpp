// isotherm bench trace: a replay on an index of this process or on a server.
#pragma once

#include "base/error.hpp"
#include "lab/replay/options.hpp"
#include "lab/replay/report.hpp"

namespace isotherm::replay {

/// Looks through the trace, fills the store, and replays. Configures the heaps: at most once a
/// process.
base::result<report> replay(const replay_options& asked);

}  // namespace isotherm::replay
