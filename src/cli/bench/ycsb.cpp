// isotherm bench ycsb: reads the flags, runs, reports.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bench/run.hpp"
#include "cli/collector_flags.hpp"
#include "cli/commands.hpp"
#include "index/index.hpp"

namespace isotherm::cli {
namespace {

void add_flags(CLI::App& command, bench_options& o) {
  command.add_option("--index", o.index, "index in process, or all")->capture_default_str();
  command.add_option("--workload", o.workload, "a to f")->capture_default_str();
  command.add_option("--distribution", o.distribution,
                     "zipfian|permuted|uniform|latest|hotspot (default: the workload's)");
  command.add_option("--keys", o.keys, "records to load")->capture_default_str();
  command.add_option("--key-size", o.key_size, "bytes of a key")->capture_default_str();
  command.add_option("--value-size", o.value_size, "bytes of a value")->capture_default_str();
  command.add_option("--theta", o.theta, "skew of zipfian and latest")->capture_default_str();
  command.add_option("--hotspot-keys", o.hotspot_keys, "share of keys that are hot")
      ->capture_default_str();
  command.add_option("--hotspot-accesses", o.hotspot_accesses, "share of accesses to hot keys")
      ->capture_default_str();
  command.add_option("--threads", o.threads, "threads, or connections")->capture_default_str();
  command
      .add_option("--rate", o.rate,
                  "requests a second, latencies corrected for coordinated omission; 0: closed loop")
      ->capture_default_str();
  command.add_option("--seconds", o.seconds, "measured time")->capture_default_str();
  command.add_option("--warmup", o.warmup, "seconds before it")->capture_default_str();
  command.add_option("--manage", o.manage, "on|off|track")->capture_default_str();
  add_collector_flags(command, o.collector);
  command.add_option("--cold-backing", o.cold_backing, "anon|file:DIR")->capture_default_str();
  command.add_flag("--huge-pages", o.huge_pages, "huge pages for HOT and the index nodes");
  command.add_option(
      "--connect", o.connect,
      "unix:PATH or tcp:HOST:PORT of a server, ours or a Redis (default: in process)");
  command.add_flag("--no-load", o.no_load, "the server of --connect holds the records already");
  command.add_option("--seed", o.seed, "of the random numbers")->capture_default_str();
  command.add_option(
      "--json", o.json,
      "append one JSON object a run (--index all: an array of them) to FILE; - prints it");
}

/// Finds out before the run, not after it, that the file cannot be written.
void check_json_file(const std::string& where) {
  if (where.empty() || where == "-") return;
  const bool existed = std::filesystem::exists(where);
  if (!std::ofstream(where, std::ios::app)) fail("cannot write --json " + where);
  if (!existed) std::filesystem::remove(where);
}

void report(const bench_plan& plan, const bench_result& found) {
  if (plan.asked.json != "-") fmt::print("{}", to_text(plan, found));
  if (!plan.asked.json.empty()) {
    const auto written = append_line(plan.asked.json, to_json(plan, found).dump());
    if (!written) fail(written.error().message);
  }
  const auto& driven = found.driven;
  if (driven.missing > 0 || driven.corrupt > 0) {
    fail(fmt::format("{} records were missing and {} had a wrong value", driven.missing,
                     driven.corrupt));
  }
}

void run_one(const bench_options& asked) {
  const auto plan = understand(asked);
  if (!plan) fail(plan.error().message);
  check_json_file(asked.json);
  const auto found = asked.connect.empty() ? run_local(*plan) : run_remote(*plan);
  if (!found) fail(found.error().message);
  report(*plan, *found);
}

/// Runs this program again for one index and returns its JSON object: a process of its own, so that
/// no index inherits the memory of the one before.
nlohmann::json run_child(std::vector<std::string> words, std::string_view index,
                         const std::filesystem::path& output) {
  words.insert(words.end(), {"--index", std::string(index), "--json", output.string()});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int problem =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) fail(base::system_error("cannot start a run", problem).message);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    fail(fmt::format("the run of {} failed", index));
  }
  std::ifstream file(output);
  return nlohmann::json::parse(file, nullptr, false);
}

std::string or_dash(const nlohmann::json& value, double scale, const char* unit) {
  return value.is_number() ? fmt::format("{:.1f}{}", value.get<double>() * scale, unit) : "-";
}

/// The indexes that can run a workload: a scan needs an order.
std::vector<std::string_view> indexes_for(const workload::ycsb_workload& workload) {
  std::vector<std::string_view> fit;
  for (const std::string_view name : index::names()) {
    if (workload.shares.scan == 0 || (*index::make(name, false))->is_ordered()) fit.push_back(name);
  }
  return fit;
}

void print_head() {
  fmt::print("{:<18}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>13}{:>14}\n", "index", "ops/s", "p50 us",
             "p90 us", "p99 us", "RSS MiB", "DRAM MiB", "utilization", "node B/entry");
}

void print_row(std::string_view index, const nlohmann::json& found) {
  const auto& latency = found["latency_us"];
  const auto& cost = found["index_bytes_per_entry"];
  constexpr double kMebi = 1.0 / (1 << 20);
  fmt::print("{:<18}{:>12.0f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.0f}{:>10.0f}{:>13}{:>14}\n", index,
             found["throughput_ops_s"].get<double>(), latency["p50"].get<double>(),
             latency["p90"].get<double>(), latency["p99"].get<double>(),
             found["rss_bytes"].get<double>() * kMebi, found["dram_bytes"].get<double>() * kMebi,
             or_dash(found["page_utilization"], 100, "%"),
             cost.is_object() ? or_dash(cost["nodes"], 1, "") : "-");
  std::fflush(stdout);
}

/// --index all: a table with one row a structure, or one JSON array of their objects.
void run_all(const bench_plan& plan, const std::vector<std::string>& words) {
  char name[] = "/tmp/isotherm-bench-XXXXXX";
  if (!mkdtemp(name)) fail(base::system_error("cannot make a folder in /tmp", errno).message);
  struct remover {
    std::filesystem::path folder;
    ~remover() { std::filesystem::remove_all(folder); }
  } const scratch{name};
  const std::string& json = plan.asked.json;
  auto all = nlohmann::json::array();
  if (json != "-") print_head();
  for (const std::string_view index : indexes_for(plan.load.workload)) {
    auto found = run_child(words, index, scratch.folder / index);
    if (!found.is_object()) fail(fmt::format("the run of {} reported nothing", index));
    if (json != "-") print_row(index, found);
    all.push_back(std::move(found));
  }
  if (json.empty()) return;
  if (auto written = append_line(json, all.dump()); !written) fail(written.error().message);
}

/// The words of this run's command line, for children; the last of a repeated flag counts.
std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace

void add_bench(CLI::App& app) {
  auto* bench = app.add_subcommand("bench", "measure a store under a workload");
  bench->require_subcommand(1);
  auto* ycsb = bench->add_subcommand("ycsb", "the workloads of YCSB, in process or over a socket");
  ycsb->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  auto options = std::make_shared<bench_options>();
  add_flags(*ycsb, *options);
  ycsb->callback([options] {
    if (options->index != "all") return run_one(*options);
    if (!options->connect.empty()) fail("--index all runs in process: leave --connect out");
    const auto plan = understand(*options);
    if (!plan) fail(plan.error().message);
    check_json_file(options->json);
    run_all(*plan, own_words());
  });
}

}  // namespace isotherm::cli
