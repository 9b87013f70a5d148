// The part that backends with two tiers share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

/// Returns the kind of a backend that moves pages between nodes.
constexpr backend_kind tiering_kind(std::string_view name, std::string_view help,
                                    std::string (*why_not)(const backend_options&),
                                    std::unique_ptr<backend> (*make)()) {
  return {.name = name,
          .help = help,
          .needs_swap = false,
          .has_tiers = true,
          .counters = kTierCounters,
          .why_not = why_not,
          .make = make};
}

/// Returns why no backend of this kind can run here and how to change that; empty: it can.
std::string why_no_tiering();

}  // namespace isotherm::lab
