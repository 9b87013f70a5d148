// isotherm bench trace: reads the flags, replays, reports.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/collector_flags.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "heap/configure.hpp"
#include "lab/replay/replay.hpp"
#include "tool/origin.hpp"

namespace isotherm::cli {
namespace {

using replay::replay_options;

void add_flags(command c, replay_options& o) {
  c.add("file", o.trace, "trace, compressed by gzip, zstd, lz4 or xz or not").required();
  c.add("--format", o.how.format, "format of the file (default: found by its contents)");
  c.add("--columns", o.how.columns, "columns of CSV without a header line, as time,key,-,op");
  c.add("--requests", o.requests, "replay so many requests at most; 0: all");
  c.add("--speed", o.speed,
        "multiple of the speed at which the trace was recorded; latencies count from the time at "
        "which a request was due; 0: as fast as possible",
        0, 1e9);
  c.add("--rate", o.bench.rate,
        "requests a second, evenly spaced, for traces without times; 0: as --speed says");
  c.add_switch("--no-fill", o.no_fill,
               "do not insert keys before that the trace reads before it writes them: such reads "
               "meet no value");
  c.add("--value-size", o.value_size, "bytes of values whose size the trace does not tell");
  auto& bench = o.bench;
  c.add("--index", bench.index, "index in process");
  c.add("--threads", bench.threads, "threads, or connections; a key belongs to one");
  c.add("--manage", bench.manage, "on|off|track");
  add_collector_flags(c, bench.collector);
  c.add("--cold-backing", bench.cold_backing, heap::cold_backing::forms("|"));
  c.add_switch("--huge-pages", bench.huge_pages, "huge pages for HOT and the index nodes");
  c.add("--connect", bench.connect,
        "unix:PATH or tcp:HOST:PORT of a server, ours or a Redis (default: in process)");
  c.add("--json", bench.json, "append one JSON object to FILE; - prints it");
}

constexpr const char* kFooter =
    "GET, SET, DELETE, INCR and, on an ordered index in process, SEEK. A time to live counts by "
    "the\n"
    "trace's clock: the driver deletes what has expired, but for a server and with --speed, where "
    "SET\ncarries it. isotherm trace analyze --help lists the formats; docs/benchmarks/traces.md "
    "says more.";

void run(const replay_options& asked) {
  if (auto valid = replay::check(asked); !valid) refuse_words(valid.error().message);
  check_appendable("--json", asked.bench.json);
  const auto made = replay::replay(asked);
  if (!made) fail(made.error().message);
  if (asked.bench.json != "-") fmt::print("{}", replay::to_text(*made));
  if (!asked.bench.json.empty()) {
    require(lab::append_line(asked.bench.json, tool::text_of(replay::to_json(*made))));
  }
  const auto corrupt = made->found.driven.sums.corrupt;
  if (corrupt > 0) fail(fmt::format("{} records had a wrong value", corrupt));
}

}  // namespace

void add_bench_trace(command root) {
  const command c =
      bench_of(root).subcommand("trace", "replay a trace of requests, in process or over a socket");
  c.let_last_flag_count();
  auto options = std::make_shared<replay_options>();
  add_flags(c, *options);
  c.footer(kFooter);
  c.action([options] { run(*options); });
}

}  // namespace isotherm::cli
