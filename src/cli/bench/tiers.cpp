// isotherm bench tiers: reads the flags, runs, reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "lab/tiers/all_tiers.hpp"
#include "lab/tiers/placements.hpp"

namespace isotherm::cli {
namespace {

using lab::tiers_options;

constexpr const char* kSimulation = "Simulation";

base::result<void> parse_ratios(const std::string& text, std::vector<double>& ratios) {
  ratios.clear();
  for (const auto part : std::views::split(text, ',')) {
    const auto ratio = base::parse_number<double>(std::string_view(part), 1, 1000);
    if (!ratio) {
      return std::unexpected(
          base::error{fmt::format("{}: ratios of 1 to 1000, as in 2,2.5,4", text), 0});
    }
    ratios.push_back(*ratio);
  }
  return {};
}

void add_simulation(command c, lab::simulation_options& o) {
  c.add_switch("--simulate", o.is_on,
               "count visits of nodes in place of time, in one thread, with the same output for a "
               "seed; the placements best, which has the fewest slow visits, and slow-fast, whose "
               "lowest levels are fast, are known too");
  c.group(kSimulation);
  c.add("--requests", o.requests, "requests to count");
  c.add("--rate", o.rate,
        "requests that stand for a second of --warmup, --shift and SINLK's intervals");
  c.add("--visit-ns", o.visit_ns,
        "nanoseconds that SINLK takes to visit a leaf; 0: as measured, 36 of art and 350 of "
        "the others");
  c.add(
      "--slow-ratio", [&o](const std::string& text) { return parse_ratios(text, o.slow_ratios); },
      "2,2.5,4", "latencies of slow memory over fast memory's, for the modelled time");
  c.add_switch("--records-in-leaves", o.has_records_in_leaves,
               "of art: leaves of 112 bytes that hold key and value, as the paper's");
}

void add_flags(command c, tiers_options& o) {
  c.add("--index", o.indexes, "masstree, btree-occ, art");
  c.add("--workload", o.workloads,
        "sp-a to sp-d (90% of the requests go to 5% of the keys, side by side), ycsb-a to "
        "ycsb-f, trace:FILE (reads of the blocks that its lines name)");
  c.add("--fast", o.fast, "size of fast memory, in per cent of what the nodes take");
  c.add("--placement", o.placements,
        fmt::format("of nodes: {}; of pages: {}",
                    fmt::join(lab::placement_names(lab::placed_unit::node), ", "),
                    fmt::join(lab::placement_names(lab::placed_unit::page), ", ")));
  c.add("--keys", o.keys, "records to load");
  c.add("--key-size", o.record.key_size, "bytes of a key");
  c.add("--value-size", o.record.value_size, "bytes of a value");
  c.add("--threads", o.threads, "threads");
  c.add("--seconds", o.seconds, "measured time");
  c.add("--warmup", o.warmup, "seconds before it");
  c.add("--shift", o.shift_seconds,
        "of sp-*: the hot region moves after so many seconds; 0: never");
  c.add("--rounds", o.rounds, "how often all is run, placements one after the other");
  c.add("--seed", o.seed, "of the first round's requests (default: another one)");
  c.add("--count", o.counting,
        "uses that searches count: needed (leaves where the placement asks for them), none, "
        "leaves, paths (all nodes)");
  c.add("--latency", o.emulated.latency_ratio, "of slow memory over fast memory's");
  c.add("--bandwidth", o.emulated.bandwidth_share, "of slow memory, as a share of fast's");
  auto& policy = o.policy;
  c.add("--trigger-ms", policy.trigger_ms, "between turns of SINLK's migration trigger");
  c.add("--trigger-share", policy.trigger_share, "of a processor, for these turns");
  c.add("--cooling-ms", policy.cooling_ms, "between halvings of its counts");
  c.add("--watermark-ms", policy.watermark_ms, "between looks at its watermarks");
  c.add("--low", policy.watermarks.low, "watermark of fast memory");
  c.add("--high", policy.watermarks.high, "watermark of fast memory");
  c.add("--json", o.json, "append one JSON object a run to FILE; - prints it");
  add_simulation(c, o.simulated);
}

constexpr const char* kFooter =
    "Slow memory is emulated on memory of one kind, as all output says: a load of a slow node "
    "that\n"
    "misses the processor's caches is held up. Each run loads a tree in a process of its own.\n"
    "With --simulate visits are counted instead, and --seconds, --threads, --count, --latency and\n"
    "--bandwidth mean nothing.\n"
    "docs/tiers.md tells what the emulation leaves out, and what each placement is.";

}  // namespace

void add_tiers(command root) {
  const command c = bench_of(root).subcommand(
      "tiers", "trees on fast and (emulated) slow memory, by several ways to place their nodes");
  auto options = std::make_shared<tiers_options>();
  add_flags(c, *options);
  c.footer(kFooter);
  c.action([options, c] {
    if (!options->simulated.is_on && c.was_given_under(kSimulation)) {
      refuse_words(
          "--requests, --rate, --visit-ns, --slow-ratio and --records-in-leaves need --simulate");
    }
    if (auto valid = lab::understand(*options); !valid) refuse_words(valid.error().message);
    require(lab::run_all_tiers(*options));
  });
}

}  // namespace isotherm::cli
