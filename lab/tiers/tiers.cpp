#include "lab/tiers/tiers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.hpp"
#include "lab/emulation/trees.hpp"
#include "lab/tiers/placements.hpp"
#include "lab/tiers/simulation.hpp"
#include "lab/tiers/trace.hpp"
#include "placement/node_memory.hpp"
#include "sync/retire.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;

constexpr std::uint64_t kLeastKeys = 1000;

base::result<double> parse_percent(std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - text.ends_with('%'));
  if (const auto value = base::parse_number<double>(number, 0, 100)) return *value / 100;
  return std::unexpected(
      base::error{fmt::format("--fast {}: shares of 0 to 100 per cent, as in 10,20,80", text), 0});
}

constexpr std::string_view kTrace = "trace:";

/// The keys of a trace are its blocks (SINLK, 6.7).
base::result<void> take_trace(tiers_run& run) {
  const auto trace = read_trace(run.workload.substr(kTrace.size()));
  if (!trace) return std::unexpected(trace.error());
  if (trace->blocks < kLeastKeys) {
    return std::unexpected(base::error{
        fmt::format("--workload {}: a trace names {} blocks or more", run.workload, kLeastKeys),
        0});
  }
  run.requests = {.letter = 'c', .shares = {.read = 100}};
  run.keys_by.trace = trace->requests;
  run.keys = trace->blocks;
  return {};
}

/// "sp-a".."sp-d": 90% of the requests go to 5% of the keys, side by side (SINLK, 6.1);
/// "ycsb-a".."ycsb-f"; "trace:FILE".
base::result<void> parse_workload(tiers_run& run) {
  if (run.workload.starts_with(kTrace)) return take_trace(run);
  const bool is_partition = run.workload.starts_with("sp-");
  const std::string letter =
      run.workload.substr(std::min(run.workload.find('-') + 1, run.workload.size()));
  auto parsed = workload::parse_workload(letter);
  const bool is_known = is_partition || run.workload.starts_with("ycsb-");
  if (!is_known || !parsed || (is_partition && parsed->letter > 'd')) {
    return std::unexpected(base::error{
        fmt::format("--workload {}: choose of sp-a to sp-d, ycsb-a to ycsb-f and trace:FILE",
                    run.workload),
        0});
  }
  run.requests = *parsed;
  run.keys_by.which = parsed->keys;
  if (is_partition) {
    run.keys_by = {.which = workload::distribution::hotspot,
                   .hotspot_keys = 0.05,
                   .hotspot_accesses = 0.9,
                   .hotspot_at = 0.4};
  }
  return {};
}

base::result<void> check(const simulation_options& asked) {
  const auto refuse = [](const char* why) { return std::unexpected(base::error{why, 0}); };
  if (asked.requests == 0) return refuse("--requests: 1 or more");
  if (asked.rate < 10) return refuse("--rate: 10 requests a second or more");
  if (!(asked.visit_ns >= 0)) return refuse("--visit-ns: 0 or more");
  for (const double each : asked.slow_ratios) {
    if (!(each >= 1)) return refuse("--slow-ratio: 1 or more");
  }
  if (asked.slow_ratios.empty()) return refuse("--slow-ratio: name one or more");
  return {};
}

base::result<void> check(const tiers_options& asked) {
  const auto refuse = [](std::string why) {
    return std::unexpected(base::error{std::move(why), 0});
  };
  if (asked.keys < kLeastKeys) return refuse(fmt::format("--keys: {} or more", kLeastKeys));
  if (asked.record.key_size < 8 || asked.record.key_size > 512) {
    return refuse("--key-size: 8 to 512 bytes");
  }
  if (asked.record.value_size < 8 || asked.record.value_size > 1 << 20) {
    return refuse("--value-size: 8 bytes to 1 MiB");
  }
  if (asked.threads < 1 || asked.threads > 1024) return refuse("--threads: 1 to 1024");
  if (!(asked.seconds > 0) || !(asked.warmup >= 0) || !(asked.shift_seconds >= 0)) {
    return refuse("--seconds is above 0, --warmup and --shift are 0 or more");
  }
  constexpr std::array<std::string_view, 4> kCountings = {"needed", "none", "leaves", "paths"};
  if (std::ranges::find(kCountings, asked.counting) == kCountings.end()) {
    return refuse("--count: needed, none, leaves or paths");
  }
  if (auto valid = check(asked.simulated); !valid) return valid;
  constexpr std::size_t kRecordInLeaf = 80;
  if (asked.simulated.has_records_in_leaves &&
      (std::ranges::any_of(asked.indexes, [](const auto& name) { return name != "art"; }) ||
       asked.record.key_size + asked.record.value_size > kRecordInLeaf)) {
    return refuse("--records-in-leaves: of art, records of up to 80 bytes");
  }
  return placement::check(asked.policy);
}

/// Places all nodes in slow memory, before the size of fast memory is known.
class slow_placer final : public placement::placer {
  tier choose(std::size_t, const placement::node_place&) noexcept override { return tier::slow; }
};

void reclaim_all() {
  for (int i = 0; i < 16 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
}

/// Returns the bytes of the loaded tree's nodes: finds out by loading one.
base::result<std::uint64_t> measure_nodes(const tiers_options& asked, const tiers_run& run,
                                          const workload::plan& plan) {
  slow_placer slow;
  auto made = make_emulated(run.index, slow);
  if (!made) return std::unexpected(made.error());
  tier_target store(*made->index, asked.record, run.keys);
  if (auto loaded = workload::load(store, plan, [](const auto&) { return true; }); !loaded) {
    return std::unexpected(loaded.error());
  }
  const std::uint64_t bytes = placement::used_bytes(tier::slow);
  made->index.reset();
  reclaim_all();
  return bytes;
}

counting counting_of(const std::string& word, std::string_view placement) {
  if (word == "needed") return counted_for(placement);
  if (word == "none") return counting::none;
  return word == "paths" ? counting::paths : counting::leaves;
}

/// The measured requests, in pieces between which the hot region moves.
class measured {
 public:
  measured(const tiers_options& asked, workload::target& store, const tier_placement& placed,
           std::uint64_t limit, tiers_result& into)
      : asked_(asked), store_(store), placed_(placed), limit_(limit), into_(into) {}

  base::result<void> run(workload::plan plan) {
    const double piece = asked_.shift_seconds > 0 ? asked_.shift_seconds : asked_.seconds;
    plan.warmup_seconds = asked_.warmup;
    for (double done = 0; done < asked_.seconds; done += piece) {
      plan.seconds = std::min(piece, asked_.seconds - done);
      if (auto driven = run_piece(plan); !driven) return driven;
      plan.warmup_seconds = 0;
      plan.seed += 1;
      if (auto& at = plan.keys_by.hotspot_at) {
        constexpr double kShift = 0.17;
        *at = std::fmod(*at + kShift, 1.0);
      }
    }
    return {};
  }

 private:
  base::result<void> run_piece(const workload::plan& plan) {
    workload::meters counts(plan.threads);
    workload::touched_keys unused(0);
    std::uint64_t before = 0;
    double second = 0;
    const auto driven = workload::run(store_, plan, counts, unused, [&](const auto& now) {
      if (now.is_warmup) return true;
      if (now.seconds < second + 1) return true;
      into_.seconds.push_back(
          {static_cast<double>(now.operations - before) / (now.seconds - second), usage()});
      before = now.operations;
      second = now.seconds;
      return true;
    });
    if (!driven) return std::unexpected(driven.error());
    into_.driven.seconds += driven->seconds;
    into_.driven.sums.add(driven->sums);
    return {};
  }
  double usage() const noexcept {
    return limit_ == 0 ? 0
                       : static_cast<double>(placed_.fast_bytes()) / static_cast<double>(limit_);
  }

  const tiers_options& asked_;
  workload::target& store_;
  const tier_placement& placed_;
  const std::uint64_t limit_;
  tiers_result& into_;
};

}  // namespace

base::result<std::vector<tiers_run>> understand(const tiers_options& asked) {
  if (auto valid = check(asked); !valid) return std::unexpected(valid.error());
  auto known = placement_names();
  if (asked.simulated.is_on) known.insert(known.end(), {kBestPlacement, kSlowFastPlacement});
  std::vector<tiers_run> runs;
  for (const std::string& index : asked.indexes) {
    if (std::ranges::find(index::placed_names(), index) == index::placed_names().end()) {
      return std::unexpected(base::error{fmt::format("--index {}: nodes can be placed of {}", index,
                                                     fmt::join(index::placed_names(), ", ")),
                                         0});
    }
    for (const std::string& workload : asked.workloads) {
      tiers_run run{.index = index,
                    .workload = workload,
                    .placement = {},
                    .requests = {},
                    .keys_by = {},
                    .keys = asked.keys,
                    .node_bytes = {}};
      if (auto parsed = parse_workload(run); !parsed) return std::unexpected(parsed.error());
      for (const std::string& fast : asked.fast) {
        const auto share = parse_percent(fast);
        if (!share) return std::unexpected(share.error());
        for (const std::string& placed : asked.placements) {
          if (std::ranges::find(known, placed) == known.end()) {
            return std::unexpected(base::error{
                fmt::format("--placement {}: choose of {}", placed, fmt::join(known, ", ")), 0});
          }
          run.placement = placed;
          run.fast_share = *share;
          runs.push_back(run);
        }
      }
    }
  }
  return runs;
}

base::result<tiers_result> run_tiers(const tiers_options& asked, const tiers_run& run,
                                     std::uint64_t seed) {
  if (auto opened = placement::open_node_memory(); !opened) {
    return std::unexpected(opened.error());
  }
  workload::plan plan{.workload = run.requests, .keys_by = run.keys_by};
  plan.keys = run.keys;
  plan.threads = asked.threads;
  plan.seed = seed;
  const auto nodes = run.node_bytes ? base::result<std::uint64_t>(*run.node_bytes)
                                    : measure_nodes(asked, run, plan);
  if (!nodes) return std::unexpected(nodes.error());
  tiers_result found;
  found.node_bytes = *nodes;
  found.fast_bytes_limit = static_cast<std::uint64_t>(run.fast_share * static_cast<double>(*nodes));
  auto placed =
      make_placement(run.placement, {.fast_bytes = found.fast_bytes_limit, .sinlk = asked.policy});
  if (!placed) return std::unexpected(placed.error());
  auto tree = make_emulated(run.index, (*placed)->chooser());
  if (!tree) return std::unexpected(tree.error());
  tier_target store(*tree->index, asked.record, run.keys);
  if (auto prepared = (*placed)->prepare(*tree->nodes); !prepared) {
    return std::unexpected(prepared.error());
  }
  const auto watch = [](const auto&) { return true; };
  if (auto loaded = workload::load(store, plan, watch); !loaded) {
    return std::unexpected(loaded.error());
  }
  auto emulated = emulate_slow_memory(asked.emulated);
  if (!emulated) return std::unexpected(emulated.error());
  found.memory = *emulated;
  count_uses(counting_of(asked.counting, run.placement));
  const auto drive = [&](double seconds) -> base::result<void> {
    workload::plan before = plan;
    before.seconds = std::min(seconds, asked.warmup + asked.seconds);
    before.seed = seed + 1'000'000;  // requests of its own
    workload::meters counts(before.threads);
    workload::touched_keys unused(0);
    const auto driven = workload::run(store, before, counts, unused, watch);
    if (!driven) return std::unexpected(driven.error());
    return {};
  };
  if (auto started = (*placed)->begin(*tree->nodes, drive); !started) {
    return std::unexpected(started.error());
  }
  const auto driven = measured(asked, store, **placed, found.fast_bytes_limit, found).run(plan);
  (*placed)->end();
  if (!driven) return std::unexpected(driven.error());
  found.fast_bytes = (*placed)->fast_bytes();
  found.details = (*placed)->details();
  return found;
}

}  // namespace isotherm::lab
