#include "lab/backends/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "index/index.hpp"

namespace isotherm::lab {
namespace {

base::error refusal(std::string why) { return {std::move(why), 0}; }

/// The plan of one store, "INDEX:WORKLOAD".
base::result<bench_plan> plan_of(const backends_options& asked, const backend_kind& kind,
                                 const std::string& manage, const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) {
    return std::unexpected(
        refusal(fmt::format("--store {}: INDEX:WORKLOAD, as in masstree:c", word)));
  }
  bench_options store = asked.store;
  store.index = word.substr(0, colon);
  store.workload = word.substr(colon + 1);
  store.manage = manage;
  store.warmup = asked.settle + asked.adapt;
  store.cold_backing = kind.managed == frontend::logs ? "file:" + asked.folder : "anon";
  if (auto made = index::make(store.index, index::management::off); !made) {
    return std::unexpected(made.error());
  } else if (auto plan = understand(store);
             !plan || plan->load.workload.shares.scan == 0 || (*made)->is_ordered()) {
    return plan;
  }
  return std::unexpected(refusal(
      fmt::format("--store {}: workload e scans, and needs an ordered index, as art is", word)));
}

base::result<backends_run> run_of(const backends_options& asked, const backend_kind& kind,
                                  const std::string& stores, const std::string& manage) {
  backends_run run{.kind = &kind, .stores = stores, .manage = manage, .plans = {}, .chosen = {}};
  for (const auto part : std::views::split(stores, '+')) {
    auto plan = plan_of(asked, kind, manage, std::string(std::string_view(part)));
    if (!plan) return std::unexpected(plan.error());
    run.record_bytes += plan->load.keys * plan->format.object_bytes();
    run.plans.push_back(std::move(*plan));
  }
  run.chosen = {.budget_bytes = static_cast<std::uint64_t>(static_cast<double>(run.record_bytes) *
                                                           asked.memory / 100),
                .pressure = asked.pressure,
                .whole_machine = asked.whole_machine};
  return run;
}

base::result<void> check(const backends_options& asked) {
  constexpr double kWeek = 7 * 86400;
  if (!(asked.memory >= 1 && asked.memory <= 1000)) {
    return std::unexpected(refusal("--memory: 1 to 1000 per cent of the records' bytes"));
  }
  if (!(asked.settle >= 0 && asked.settle <= kWeek && asked.adapt >= 0 && asked.adapt <= kWeek)) {
    return std::unexpected(refusal("--settle and --adapt: 0 seconds to a week"));
  }
  if (!(asked.pressure > 0 && asked.pressure <= 100)) {
    return std::unexpected(refusal("--pressure: above 0 and up to 100 per cent of the time"));
  }
  for (const std::string& manage : asked.manage) {
    if (manage != "on" && manage != "off") {
      return std::unexpected(refusal(fmt::format("--manage {}: off, on, or both", manage)));
    }
  }
  return {};
}

}  // namespace

backends_options default_backends_options() {
  backends_options asked;
  asked.store.keys = 200'000;
  asked.store.seconds = 10;
  asked.store.collector.window_seconds = 2;
  // The papers' policy; the budget is for a store that holds itself to it, as under `log`.
  asked.store.collector.policy = collector::policy_name::published;
  return asked;
}

base::result<std::vector<backends_run>> understand(const backends_options& asked,
                                                   std::uint64_t seed) {
  if (auto valid = check(asked); !valid) return std::unexpected(valid.error());
  backends_options seeded = asked;
  seeded.store.seed = seed;
  std::vector<backends_run> runs;
  for (const std::string& stores : asked.stores) {
    for (const std::string& name : asked.backends) {
      const auto kind = find_backend(name);
      if (!kind) return std::unexpected(kind.error());
      for (const std::string& manage : asked.manage) {
        auto run = run_of(seeded, **kind, stores, manage);
        if (!run) return std::unexpected(run.error());
        runs.push_back(std::move(*run));
      }
    }
  }
  return runs;
}

}  // namespace isotherm::lab
