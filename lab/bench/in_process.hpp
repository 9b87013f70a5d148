// Parts of a run in this process, whatever drives it: heaps, samples of memory, windows.
#pragma once

#include <functional>
#include <vector>

#include "base/error.hpp"
#include "collector/statistics.hpp"
#include "index/index.hpp"
#include "lab/bench/options.hpp"
#include "lab/bench/report.hpp"
#include "lab/bench/windows.hpp"
#include "lab/workload/driver.hpp"

namespace isotherm::lab {

/// Configures the heaps as asked: at most once a process.
base::result<void> configure_heaps(const bench_options& asked);

/// Returns the page utilization of the keys and values that `is_used` says were used, 0..1. Walks
/// the index: no concurrent writers.
double utilization_by_walk(
    index::any_index& index,
    const std::function<bool(std::string_view key, std::string_view value)>& is_used);

/// Returns, by memory node, the shares of the records and of the accesses to them whose values lie
/// there, of a sample that is drawn as the workload draws. Empty where the system does not say. No
/// concurrent writers.
std::vector<node_shares> sample_nodes(index::any_index& index, const bench_plan& plan);

/// Drives a store, and calls the watcher meanwhile.
using drive_function =
    std::function<base::result<workload::outcome>(const workload::watcher& watch)>;
/// Seconds until a run ends, about.
using time_left = std::function<double(const workload::progress& now)>;

/// Drives without a collector; the windows' ends are the driver's own. `utilization` is asked after
/// the end.
base::result<workload::outcome> drive_unmanaged(const drive_function& drive, const time_left& left,
                                                const std::function<double()>& utilization,
                                                const bench_plan& plan, window_recorder& windows);

/// Drives beside a collector, whose windows count.
base::result<workload::outcome> drive_managed(const drive_function& drive, const bench_plan& plan,
                                              window_recorder& windows);

}  // namespace isotherm::lab
