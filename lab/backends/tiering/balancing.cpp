#include "lab/backends/tiering/balancing.hpp"

#include <memory>
#include <utility>

namespace isotherm::lab {
namespace {

constexpr const char* kScan = "/sys/kernel/debug/sched/numa_balancing/";

std::string why_not(const backend_options&) { return why_no_balancing(); }

template <balancing_mode Mode, demotion Demotes>
std::unique_ptr<backend> make_balancing() {
  return std::make_unique<balancing>(Mode, Demotes);
}

}  // namespace

base::result<void> balancing::start(backed_run& run) {
  constexpr std::pair<const char*, const char*> kSettings[] = {
      {"scan_period_min_ms", "500"}, {"scan_period_max_ms", "3000"}, {"scan_size_mb", "64"}};
  for (const auto& [name, text] : kSettings) {
    if (auto wrote = run.changes.write(std::string(kScan) + name, text); !wrote) return wrote;
  }
  return tiering::start(run);
}

std::string why_no_balancing() {
  if (read_text(std::string(kScan) + "scan_size_mb").empty()) {
    return "the scan of NUMA balancing cannot be hastened: as root, mount -t debugfs debugfs "
           "/sys/kernel/debug";
  }
  return why_no_tiering();
}

extern const backend_kind kAutonuma =
    tiering_kind("autonuma", "NUMA balancing (numa_balancing=1)", why_not,
                 make_balancing<balancing_mode::all_nodes, demotion::off>);

extern const backend_kind kTieredBalancing =
    tiering_kind("tpp", "NUMA balancing for tiers (2), and demotion", why_not,
                 make_balancing<balancing_mode::tiers, demotion::on>);

}  // namespace isotherm::lab
