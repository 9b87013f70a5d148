// The part that backends with two tiers share.
#pragma once

#include <cstdint>
#include <optional>

#include "lab/backends/backend.hpp"
#include "lab/backends/system/memory_nodes.hpp"

namespace isotherm::lab {

/// How the kernel moves pages between nodes by itself, as /proc/sys/kernel/numa_balancing takes it.
enum class balancing_mode : unsigned char { off = 0, all_nodes = 1, tiers = 2 };
/// Whether reclaim moves pages of a fast node to a slow one, or to swap space.
enum class demotion : unsigned char { off, on };

/// A backend that moves pages between memory nodes. All pages of the stores begin on the slow
/// nodes; from start() on, new ones come from the fast nodes as long as these have room. Thread:
/// one.
class tiering : public backend {
 public:
  base::result<void> start(backed_run& run) override;
  std::optional<std::uint64_t> fast_bytes(const backed_run& run) const override;
  nlohmann::json details(const backed_run& run) const override;

 protected:
  tiering(balancing_mode mode, demotion demotes) : mode_(mode), demotes_(demotes) {}
  const memory_nodes& nodes() const noexcept { return nodes_; }

 private:
  balancing_mode mode_;
  demotion demotes_;
  memory_nodes nodes_ = find_memory_nodes();
};

/// Rows of /proc/vmstat that tell of moves between nodes.
inline constexpr std::string_view kTierCounters[] = {
    "pgpromote_success", "pgdemote_kswapd",  "pgdemote_direct", "pgmigrate_success",
    "pgmigrate_fail",    "numa_pte_updates", "numa_hint_faults"};

/// Returns why no backend of this kind can run here and how to change that; empty: it can.
std::string why_no_tiering();

}  // namespace isotherm::lab
