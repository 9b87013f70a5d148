// isotherm bench tiers: reads the flags, runs, reports.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "harness/tiers/all_tiers.hpp"

namespace isotherm::cli {
namespace {

using harness::tiers_options;

void add_flags(CLI::App& command, tiers_options& o) {
  command.add_option("--index", o.indexes, "btree-occ, art")->delimiter(',')->capture_default_str();
  command
      .add_option(
          "--workload", o.workloads,
          "sp-a to sp-d (90% of the requests go to 5% of the keys, side by side), ycsb-a to "
          "ycsb-f, trace:FILE (reads of the blocks that its lines name)")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--fast", o.fast, "size of fast memory, in per cent of what the nodes take")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--placement", o.placements,
                  "of nodes: static, layered, sinlk, prophet; of pages: interleave, tpp, memtis, "
                  "caption")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--keys", o.keys, "records to load")->capture_default_str();
  command.add_option("--key-size", o.record.key_size, "bytes of a key")->capture_default_str();
  command.add_option("--value-size", o.record.value_size, "bytes of a value")
      ->capture_default_str();
  command.add_option("--threads", o.threads, "threads")->capture_default_str();
  command.add_option("--seconds", o.seconds, "measured time")->capture_default_str();
  command.add_option("--warmup", o.warmup, "seconds before it")->capture_default_str();
  command
      .add_option("--shift", o.shift_seconds,
                  "of sp-*: the hot region moves after so many seconds; 0: never")
      ->capture_default_str();
  command.add_option("--rounds", o.rounds, "how often all is run, placements one after the other")
      ->capture_default_str();
  command.add_option("--seed", o.seed, "of the first round's requests (default: another one)");
  command
      .add_option("--count", o.counting,
                  "uses that searches count: none, leaves (as SINLK), paths (all nodes)")
      ->capture_default_str();
  command.add_option("--latency", o.emulated.latency_ratio, "of slow memory over fast memory's")
      ->capture_default_str();
  command
      .add_option("--bandwidth", o.emulated.bandwidth_share, "of slow memory, as a share of fast's")
      ->capture_default_str();
  auto& policy = o.policy;
  command
      .add_option("--trigger-ms", policy.trigger_ms, "between turns of SINLK's migration trigger")
      ->capture_default_str();
  command.add_option("--trigger-share", policy.trigger_share, "of a processor, for these turns")
      ->capture_default_str();
  command.add_option("--cooling-ms", policy.cooling_ms, "between halvings of its counts")
      ->capture_default_str();
  command.add_option("--watermark-ms", policy.watermark_ms, "between looks at its watermarks")
      ->capture_default_str();
  command.add_option("--low", policy.watermarks.low, "watermark of fast memory")
      ->capture_default_str();
  command.add_option("--high", policy.watermarks.high, "watermark of fast memory")
      ->capture_default_str();
  command.add_option("--json", o.json, "append one JSON object a run to FILE; - prints it");
}

constexpr const char* kFooter =
    "Slow memory is emulated on memory of one kind, as all output says: a load of a slow node "
    "that\n"
    "misses the processor's caches is held up. Each run loads a tree in a process of its own.\n"
    "docs/tiers.md tells what the emulation leaves out, and what each placement is.";

}  // namespace

void add_bench_tiers(CLI::App& bench) {
  auto* command = bench.add_subcommand(
      "tiers", "trees on fast and (emulated) slow memory, by several ways to place their nodes");
  auto options = std::make_shared<tiers_options>();
  add_flags(*command, *options);
  command->footer(kFooter);
  command->callback([options] {
    if (auto valid = harness::understand(*options); !valid) refuse_words(valid.error().message);
    require(harness::run_all_tiers(*options));
  });
}

}  // namespace isotherm::cli
