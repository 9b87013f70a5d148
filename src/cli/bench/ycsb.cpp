// isotherm bench ycsb: reads the flags, runs, reports.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/collector_flags.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "heap/configure.hpp"
#include "lab/bench/all_indexes.hpp"
#include "lab/bench/run.hpp"
#include "tool/origin.hpp"

namespace isotherm::cli {
namespace {

using lab::bench_options;
using lab::bench_plan;
using lab::bench_result;

void add_flags(command c, bench_options& o) {
  c.add("--index", o.index, "index in process, or all");
  c.add("--workload", o.workload, "a to f");
  c.add("--mix", o.mix,
        "shares of operations in percent, as read=90,delete=10, of read, update, insert, scan, "
        "modify, delete, multiget (of 10 records) and incr (of a counter beside the record) "
        "(default: the workload's)");
  c.add("--distribution", o.distribution,
        "zipfian|permuted|uniform|latest|exponential|sequential|hotspot (default: the "
        "workload's)");
  c.add("--keys", o.keys, "records to load");
  c.add("--key-size", o.key_size, "bytes of a key");
  c.add(
      "--value-size", [&o](const std::string& text) { return lab::read_value_size(text, o); },
      std::to_string(o.value_size), "bytes of a value, or LEAST..GREATEST of them");
  c.add("--value-sizes", o.value_sizes,
        "constant|uniform|zipfian: how sizes are drawn from 8 bytes, or LEAST, to --value-size; a "
        "record keeps its own (default: constant, uniform of LEAST..GREATEST)");
  c.add("--ttl", o.ttl,
        "seconds until a value that was updated or inserted expires; 0: never. A server expires "
        "it, the driver deletes it in process");
  c.add("--theta", o.theta, "skew of zipfian, permuted and latest, 0.01 to 10");
  c.add("--hotspot-keys", o.hotspot_keys, "share of keys that are hot");
  c.add("--hotspot-accesses", o.hotspot_accesses, "share of accesses to hot keys");
  c.add("--exponential-keys", o.exponential_keys,
        "share of the loaded keys whose youngest take --exponential-accesses");
  c.add("--exponential-accesses", o.exponential_accesses,
        "share of accesses to the youngest --exponential-keys");
  c.add("--threads", o.threads, "threads, or connections");
  c.add("--rate", o.rate,
        "requests a second, latencies corrected for coordinated omission; 0: closed loop");
  c.add("--seconds", o.seconds, "measured time");
  c.add("--warmup", o.warmup, "seconds before it");
  c.add("--manage", o.manage, "on|off|track");
  add_collector_flags(c, o.collector);
  c.add("--cold-backing", o.cold_backing, heap::cold_backing::forms("|"));
  c.add("--hot-node", o.hot_node, "memory node of what is not cold");
  c.add_switch("--huge-pages", o.huge_pages, "huge pages for HOT and the index nodes");
  c.add("--connect", o.connect,
        "unix:PATH or tcp:HOST:PORT of a server, ours or a Redis; of a memcached with memcached: "
        "before it (default: in process)");
  c.add_switch("--no-load", o.no_load, "the server of --connect holds the records already");
  c.add("--used", o.used, "write used keys to FILE, with the windows since; goes with --connect");
  c.add("--seed", o.seed,
        "of the random numbers: the same seed sends the same requests (default: another "
        "one each run, printed)");
  c.add("--json", o.json,
        "append one JSON object a run (--index all: an array of them) to FILE; - prints it");
}

constexpr const char* kFooter =
    "The operating point stands before the run (with --rate) and beside the result: requests a\n"
    "record and window, the share of the records that are used in a window, and the best page\n"
    "utilization of any order of the records that does not change within a window. The last two\n"
    "are expected values, computed from the distribution. Workloads that insert, delete, scan or\n"
    "count and records that expire or differ in size have none. Windows are those of --window; "
    "with --connect\n"
    "give the server's.\n"
    "A miss is a request during which its thread waits for COLD's file, or for a page from a disk "
    "or\n"
    "from swap; a server's are not seen. Beside the misses stand, for the DRAM that held records\n"
    "(resident bytes of NEW, HOT and COLD, waste included):\n"
    "  object-LRU   what an LRU cache of as many records misses, on the same requests\n"
    "  best static  what the best fixed choice of as many records misses, by the true popularity\n"
    "               of the distribution; of latest, the youngest records at each time\n"
    "Both count a use of a record that is not kept, a write too. They are found after the run, by\n"
    "repeating its requests (of more than 100 million the last) on a sample of the records.\n"
    "--json has them for each window, beside its latencies, and with room for 5, 10 .. 95% of the\n"
    "records. docs/benchmarks/README.md has every field.";

void report(const bench_plan& plan, const bench_result& found) {
  if (plan.asked.json != "-") fmt::print("{}", lab::to_text(plan, found));
  if (!plan.asked.json.empty()) {
    const std::string line = tool::text_of(lab::to_json(plan, found));
    require(lab::append_line(plan.asked.json, line));
  }
  if (!plan.asked.used.empty()) {
    require(lab::write_keys(plan.asked.used, plan.format, found.used_keys));
  }
  const auto& driven = found.driven.sums;
  const bool may_miss = plan.load.workload.shares.remove > 0 || plan.format.ttl_ms > 0;
  if ((driven.missing > 0 && !may_miss) || driven.corrupt > 0) {
    fail(fmt::format("{} records were missing and {} had a wrong value", driven.missing,
                     driven.corrupt));
  }
}

void run_one(const bench_options& asked) {
  const auto plan = lab::understand(asked);
  if (!plan) refuse_words(plan.error().message);
  check_appendable("--json", asked.json);
  check_appendable("--used", asked.used);
  const auto found = asked.connect.empty() ? lab::run_local(*plan) : lab::run_remote(*plan);
  if (!found) fail(found.error().message);
  report(*plan, *found);
}

}  // namespace

void add_ycsb(command root) {
  const command c =
      bench_of(root).subcommand("ycsb", "the workloads of YCSB, in process or over a socket");
  c.let_last_flag_count();
  auto options = std::make_shared<bench_options>();
  add_flags(c, *options);
  c.footer(kFooter);
  c.action([options] {
    if (options->index != "all") return run_one(*options);
    if (!options->connect.empty()) refuse_words("--index all runs in process: leave --connect out");
    const auto plan = lab::understand(*options);
    if (!plan) refuse_words(plan.error().message);
    check_appendable("--json", options->json);
    require(lab::run_all(*plan));
  });
}

}  // namespace isotherm::cli
