// isotherm bench tiers --simulate: the requests of a run counted in place of timed, in one thread
// and without a clock.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "lab/simulation/visits.hpp"
#include "lab/tiers/tiers.hpp"

namespace isotherm::lab {

/// Modelled nanoseconds of a visit that misses the cache, in fast memory, and of one that hits.
inline constexpr double kModelledMissNs = 100, kModelledHitNs = 5;

/// Since the traffic began, or the hot region moved: simulated time and visits of all leaves until
/// 95% of the leaves of the hot region were fast. Absent: that did not happen.
struct hot_leaves_fast {
  std::optional<double> seconds;
  std::optional<std::uint64_t> visits;
};

struct simulated_result {
  std::uint64_t node_bytes = 0, fast_bytes_limit = 0, fast_bytes = 0, fast_page_bytes = 0;
  std::uint64_t requests = 0, moved_bytes = 0;
  std::uint64_t most_moved_bytes = 0;  ///< in a tenth of a simulated second
  std::uint64_t leaves_per_turn = 0;
  std::array<visit_tally, kVisitedKinds> visits;
  /// All of them; of the best placement the tiers are those that it would choose for each cache.
  visit_tally sum;
  std::array<request_misses, kCaches> by_request;
  std::vector<hot_leaves_fast> until_hot_fast;
  nlohmann::json details;
};

/// The name of the placement that is computed: from the true counts, which nodes should have been
/// fast, whatever lies above them. No placement of nodes that stay where they are has fewer slow
/// visits.
inline constexpr std::string_view kBestPlacement = "best";
/// The name of another one that is computed: the lowest levels are fast, as many as fit.
inline constexpr std::string_view kSlowFastPlacement = "slow-fast";

/// Loads and drives, in this process, whose node memory must not have been used yet.
base::result<simulated_result> run_simulated(const tiers_options& asked, const tiers_run& run,
                                             std::uint64_t seed);

/// Modelled time of a request in a slow memory of `slow_ratio` times the latency, behind cache
/// `cache` of kCacheMib.
double modelled_ns(const simulated_result& found, double slow_ratio, std::size_t cache) noexcept;
/// Modelled time of a request when all nodes are in fast memory.
double all_fast_ns(const simulated_result& found, std::size_t cache) noexcept;

}  // namespace isotherm::lab
