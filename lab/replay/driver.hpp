// Replays a trace on a store with threads.
//
// A key belongs to one thread, by its hash, so that its requests keep their order. Every thread
// reads the whole trace and leaves out the requests of the others: nothing of the trace is held in
// memory, where it would count as the store's, and no thread waits for another. The price is that
// each thread decodes each line, some 100 ns.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "lab/replay/options.hpp"
#include "lab/replay/store.hpp"
#include "lab/replay/survey.hpp"
#include "lab/workload/driver.hpp"

namespace isotherm::replay {

/// The outcome of a replay.
struct replayed {
  workload::outcome driven;   ///< a get counts as read, set as update, incr as modify, seek as scan
  std::uint64_t expired = 0;  ///< values that the driver removed, as the trace's clock asked
};

/// The operation that a request counts as in a tally.
workload::operation counted_as(traces::operation kind) noexcept;

/// Inserts the keys whose first request is a get, with asked.bench.threads threads. Returns their
/// number.
base::result<std::uint64_t> fill(store& target, const replay_options& asked, const survey& seen,
                                 const workload::watcher& watch);

/// Replays the requests. Counts in `counts`, a meter a thread, and marks used keys in `used` by
/// their numbers. A speed or a rate makes a request wait for its time, from which its latency
/// counts.
base::result<replayed> run(store& target, const replay_options& asked, const survey& seen,
                           workload::meters& counts, workload::touched_keys& used,
                           const workload::watcher& watch);

}  // namespace isotherm::replay
