// isotherm bench backends: reads the flags, runs, reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <memory>

#include "cli/collector_flags.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "cli/signals.hpp"
#include "lab/backends/all_backends.hpp"

namespace isotherm::cli {
namespace {

using lab::backends_options;

void add_flags(command c, backends_options& o) {
  std::string backends;
  for (const auto* const each : lab::backend_kinds()) {
    backends += fmt::format("{}{} ({})", backends.empty() ? "" : ", ", each->name, each->help);
  }
  c.add("--backend", o.backends, backends);
  c.add("--store", o.stores,
        "INDEX:WORKLOAD, a to f of YCSB; several joined by + run side by side, as in "
        "art:a+hash-chm:c+masstree:b");
  c.add("--manage", o.manage, "off, on");
  c.add("--memory", o.memory, "DRAM for the stores, in per cent of the bytes of their records");
  c.add("--keys", o.store.keys, "records of each store");
  c.add("--key-size", o.store.key_size, "bytes of a key");
  c.add("--value-size", o.store.value_size, "bytes of a value");
  c.add("--distribution", o.store.distribution,
        "zipfian|permuted|uniform|latest|exponential|sequential|hotspot (default: the "
        "workload's)");
  c.add("--theta", o.store.theta, "skew of zipfian, permuted and latest, 0.01 to 10");
  c.add("--hotspot-keys", o.store.hotspot_keys, "share of keys that are hot");
  c.add("--hotspot-accesses", o.store.hotspot_accesses, "share of accesses to hot keys");
  c.add("--threads", o.store.threads, "threads of each store");
  c.add("--rate", o.store.rate, "requests a second to each store; 0: closed loop");
  c.add("--settle", o.settle, "seconds of requests before the backend begins");
  c.add("--adapt", o.adapt, "seconds of requests under the backend before the measured time");
  c.add("--seconds", o.store.seconds, "measured time");
  c.add("--rounds", o.rounds, "how often all is run", 1U, 100'000U);
  c.add("--seed", o.store.seed, "of the first round's requests (default: another one)");
  c.add_choice("--swap", o.swap,
               {lab::swap_place::file, lab::swap_place::zram, lab::swap_place::system},
               "swap space: file and zram are made for the run, system is there");
  c.add("--dir", o.folder, "directory on a disk, for the swap file and for COLD under log");
  c.add("--pressure", o.pressure, "share of time in stalls that tmo bears, in per cent");
  c.add_switch("--whole-machine", o.whole_machine,
               "kswapd: the other process takes the machine's memory; for a virtual machine of "
               "one's own");
  c.add("--json", o.json, "append one JSON object a run to FILE; - prints it");
  add_collector_flags(c, o.store.collector, {"hint", "memory-target"});
}

constexpr const char* kFooter =
    "Stores run in processes of their own, in one control group. Each run begins anew: the stores\n"
    "load, serve for --settle without a backend, for --adapt under it, and then for --seconds, "
    "which\n"
    "count. With management on the collector orders objects from the start on; COLD is mapped, "
    "and\n"
    "gets no hint but under hinted; under log it is a file, and the store holds itself to "
    "--memory.\n"
    "DRAM is what the group is charged for and what zram takes. A hit is a request that waited "
    "for\n"
    "no disk and no swap; a stall is time in which some task waited for memory.\n"
    "Swap and control groups need root. All changes of the system are undone at the end, after an\n"
    "interrupt too; what a killed run has left, the next one undoes.\n"
    "docs/lab/backends.md has figures, limits and every field.";

void run(const backends_options& asked) {
  if (const auto valid = lab::check(asked); !valid) refuse_words(valid.error().message);
  check_appendable("--json", asked.json);
  const auto done = lab::run_all_backends(asked, catch_signals());
  if (!done && done.error().code == ECANCELED) fail(done.error().message, kInterrupted);
  require(done);
}

}  // namespace

void add_backends(command root) {
  const command c = bench_of(root).subcommand(
      "backends", "a store over mechanisms that move its pages, with management off and on");
  auto options = std::make_shared<backends_options>(lab::default_backends_options());
  add_flags(c, *options);
  c.footer(kFooter);
  c.action([options] { run(*options); });
}

}  // namespace isotherm::cli
