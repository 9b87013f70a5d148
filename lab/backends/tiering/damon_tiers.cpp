// DAMON's schemes as backends: page-out of what was not accessed for a while (swap), and migration
// between tiers (hot pages of the slow node up, cold ones of the fast node down).
//
// Schemes to migrate work on physical addresses in 6.12: a monitor watches each node. The kernel's
// defaults (5 ms a sample, 1000 regions) suit machines with a processor to spare; a run has few
// seconds and, in an emulated machine, slow processors, so that samples are rarer and regions more.
#include "lab/backends/system/damon.hpp"
#include "lab/backends/tiering/tiers.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

constexpr unsigned kSampleMs = 200, kSamples = 10, kLeastRegions = 1000, kMostRegions = 8000;

class damon_pageout final : public backend {
  base::result<void> start(backed_run& run) override {
    constexpr unsigned kIdleSums = 5;  // 10 s
    std::vector<damon_monitor> monitors;
    for (const pid_t store : run.stores) {
      monitors.push_back({.process = store,
                          .ranges = {},
                          .sample_ms = kSampleMs,
                          .samples = kSamples,
                          .least_regions = kLeastRegions,
                          .most_regions = kMostRegions,
                          .schemes = {{.action = "pageout",
                                       .target = std::nullopt,
                                       .most_percent = 0,
                                       .least_age = kIdleSums}}});
    }
    auto started = damon::start(run.changes, monitors);
    if (!started) return std::unexpected(started.error());
    damon_.emplace(std::move(*started));
    return {};
  }
  nlohmann::json details(const backed_run&) const override {
    return {{"paged_out_bytes", damon_->applied_bytes(0)}};
  }

  std::optional<damon> damon_;
};

class damon_tiers final : public tiering {
 public:
  damon_tiers() : tiering(balancing_mode::off, demotion::off) {}

  base::result<void> start(backed_run& run) override {
    const unsigned fast = nodes().fast.front(), slow = nodes().slow.front();
    const damon_monitor monitors[] = {
        watching(slow, {.action = "migrate_hot", .target = fast, .least_percent = 40}),
        watching(fast,
                 {.action = "migrate_cold", .target = slow, .most_percent = 10, .least_age = 2})};
    auto started = damon::start(run.changes, monitors);
    if (!started) return std::unexpected(started.error());
    damon_.emplace(std::move(*started));
    return tiering::start(run);
  }
  nlohmann::json details(const backed_run& run) const override {
    nlohmann::json found = tiering::details(run);
    found["promoted_bytes"] = damon_->applied_bytes(0);
    found["demoted_bytes"] = damon_->applied_bytes(1);
    return found;
  }

 private:
  static damon_monitor watching(unsigned node, const damon_scheme& scheme) {
    const auto memory = physical_memory_of(node, read_text("/proc/zoneinfo"));
    return {.operations = "paddr",
            .ranges = memory ? std::vector<address_range>{{memory->begin, memory->end}}
                             : std::vector<address_range>{},
            .sample_ms = kSampleMs,
            .samples = kSamples,
            .least_regions = kLeastRegions,
            .most_regions = kMostRegions,
            .schemes = {scheme}};
  }

  std::optional<damon> damon_;
};

std::string why_not(const backend_options&) { return why_no_damon(); }

std::string why_no_migration(const backend_options&) {
  const std::string lacking = why_no_damon();
  return lacking.empty() ? why_no_tiering() : lacking;
}

}  // namespace

extern const backend_kind kDamon{.name = "damon",
                                 .help = "DAMON pages out what was not accessed for 10 seconds",
                                 .why_not = why_not,
                                 .make = make_backend<damon_pageout>};

extern const backend_kind kDamonTiers = tiering_kind(
    "damon-tiers", "DAMON migrates hot pages to fast memory and cold ones to slow memory",
    why_no_migration, make_backend<damon_tiers>);

}  // namespace isotherm::lab
