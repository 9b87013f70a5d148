// isotherm bench tiers: a tree on fast and slow memory under a workload, with one way to place its
// nodes (SINLK, 6).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/emulation/slow_memory.hpp"
#include "lab/tiers/tier_target.hpp"
#include "lab/workload/driver.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::lab {

/// Options of --simulate.
struct simulation_options {
  bool is_on = false;
  std::uint64_t requests = 2'000'000;          ///< counted ones
  std::uint64_t rate = 2'000'000;              ///< requests that stand for a second
  double visit_ns = 0;                         ///< that SINLK takes to visit a leaf; 0: as measured
  std::vector<double> slow_ratios{2, 2.5, 4};  ///< latencies of slow memory over fast memory's
  bool has_records_in_leaves = false;          ///< of `art`
};

/// The flags, as given.
struct tiers_options {
  std::vector<std::string> indexes{"masstree", "btree-occ", "art"};
  std::vector<std::string> workloads{"sp-c"};
  std::vector<std::string> fast{"20"};  ///< per cent of what the nodes take after the load
  std::vector<std::string> placements{"interleave", "static", "sinlk"};
  std::uint64_t keys = 1'000'000;
  tier_record record;
  unsigned threads = 2;
  double seconds = 10;
  double warmup = 10;
  double shift_seconds = 0;  ///< of sp-*: the hot region moves so often; 0: never
  unsigned rounds = 1;
  std::optional<std::uint64_t> seed;
  std::string counting = "needed";
  emulation_options emulated;
  placement::sinlk_options policy;  ///< options of SINLK, whose fast size follows from `fast`
  simulation_options simulated;
  std::string json;  ///< as that of bench ycsb
};

/// One run of those that the options ask for.
struct tiers_run {
  std::string index, workload, placement;
  double fast_share = 0;
  workload::ycsb_workload requests;
  workload::key_choice keys_by;
  std::uint64_t keys = 0;
  std::optional<std::uint64_t> node_bytes;  ///< known from another run with this index and keys
};
/// All, in the order in which a round has them: placements next to each other, as they are to be
/// compared. Errors name the flag.
base::result<std::vector<tiers_run>> understand(const tiers_options& asked);

/// A second of a run.
struct tiers_second {
  double throughput = 0, fast_usage = 0;
};
struct tiers_result {
  emulation_report memory;
  workload::outcome driven;
  std::uint64_t node_bytes = 0, fast_bytes_limit = 0, fast_bytes = 0;
  std::vector<tiers_second> seconds;
  nlohmann::json details;
};

/// Loads and drives, in this process, whose node memory must not have been used yet.
base::result<tiers_result> run_tiers(const tiers_options& asked, const tiers_run& run,
                                     std::uint64_t seed);

}  // namespace isotherm::lab
