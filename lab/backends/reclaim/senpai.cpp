// Proactive reclaim by pressure (TMO, Weiner et al., ASPLOS 2022), in the manner of its agent
// Senpai: while tasks of the group wait for memory less than a target share of the time, a part of
// the group's memory is reclaimed, in proportion to the distance from the target.
//
// TMO reclaims at most 0.05% of the memory every 6 seconds, for days. A run here takes a minute, so
// that it reclaims at most 10% every 2 seconds, the kernel's shortest period of pressure.
#include <algorithm>
#include <chrono>

#include "lab/backends/backend.hpp"

namespace isotherm::lab {
namespace {

using clock = std::chrono::steady_clock;

class senpai final : public backend {
  base::result<void> start(backed_run& run) override {
    stalled_us_ = run.group->stalled_us().value_or(0);
    last_ = clock::now();
    return {};
  }

  void step(backed_run& run) override {
    constexpr auto kPeriod = std::chrono::seconds(2);
    constexpr double kMostShare = 0.1;
    const double seconds = std::chrono::duration<double>(clock::now() - last_).count();
    if (clock::now() - last_ < kPeriod) return;
    const std::uint64_t stalled = run.group->stalled_us().value_or(stalled_us_);
    const double percent = static_cast<double>(stalled - stalled_us_) / 1e6 / seconds * 100;
    stalled_us_ = stalled;
    last_ = clock::now();
    const double share = kMostShare * std::max(0.0, 1 - percent / run.chosen.pressure);
    const auto bytes =
        static_cast<std::uint64_t>(share * static_cast<double>(run.group->memory().charged));
    if (bytes == 0) return;
    run.group->reclaim(bytes);
    asked_bytes_ += bytes;
  }

  nlohmann::json details(const backed_run& run) const override {
    return {{"pressure_target_percent", run.chosen.pressure},
            {"reclaim_asked_bytes", asked_bytes_}};
  }

  clock::time_point last_;
  std::uint64_t stalled_us_ = 0, asked_bytes_ = 0;
};

std::string why_not(const backend_options&) {
  if (!read_text("/proc/pressure/memory").empty()) return {};
  return "the kernel does not tell pressure (PSI): boot it with psi=1";
}

}  // namespace

extern const backend_kind kTmo{.name = "tmo",
                               .help = "reclaims while pressure is low, as Meta's Senpai does",
                               .why_not = why_not,
                               .make = make_backend<senpai>};

}  // namespace isotherm::lab
