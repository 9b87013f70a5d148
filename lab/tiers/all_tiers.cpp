#include "lab/tiers/all_tiers.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "lab/bench/options.hpp"
#include "lab/bench/report.hpp"
#include "lab/tiers/simulation_report.hpp"
#include "tool/origin.hpp"

namespace isotherm::lab {
namespace {

/// Returns the fields that tell what was run.
nlohmann::json settings_of(const tiers_options& asked, const tiers_run& run, unsigned round,
                           std::uint64_t seed) {
  return {{"index", run.index},
          {"workload", run.workload},
          {"placement", run.placement},
          {"fast_share", run.fast_share},
          {"round", round},
          {"seed", seed},
          {"keys", run.keys},
          {"key_size", asked.record.key_size},
          {"value_size", asked.record.value_size},
          {"warmup_seconds", asked.warmup},
          {"shift_seconds", asked.shift_seconds}};
}

nlohmann::json to_json(const tiers_options& asked, nlohmann::json row, const tiers_result& found) {
  const auto& latency = found.driven.sums.latency_ns;
  const auto us = [&latency](double share) {
    return static_cast<double>(latency.quantile(share)) / 1e3;
  };
  nlohmann::json seconds = nlohmann::json::array();
  for (const tiers_second& each : found.seconds) {
    seconds.push_back({{"throughput_ops_s", each.throughput}, {"fast_usage", each.fast_usage}});
  }
  row.update({{"memory", "emulated"},
              {"threads", asked.threads},
              {"counting", asked.counting},
              {"fast_ns", found.memory.fast_ns},
              {"slow_ns", found.memory.slow_ns},
              {"slow_line_ns", found.memory.line_ns},
              {"node_bytes", found.node_bytes},
              {"fast_bytes_limit", found.fast_bytes_limit},
              {"fast_bytes", found.fast_bytes},
              {"seconds", found.driven.seconds},
              {"throughput_ops_s", found.driven.throughput()},
              {"latency_us",
               {{"mean", latency.mean() / 1e3},
                {"p50", us(0.5)},
                {"p90", us(0.9)},
                {"p99", us(0.99)},
                {"p999", us(0.999)}}},
              {"missing", found.driven.sums.missing},
              {"corrupt", found.driven.sums.corrupt},
              {"each_second", seconds},
              {"details", found.details},
              {"trigger_ms", asked.policy.trigger_ms},
              {"cooling_ms", asked.policy.cooling_ms},
              {"origin", tool::origin()}});
  return row;
}

/// The reports of one run, or {"problem": why there are none}.
nlohmann::json reports_of(const tiers_options& asked, const tiers_run& run, unsigned round,
                          std::uint64_t seed) {
  const nlohmann::json settings = settings_of(asked, run, round, seed);
  if (asked.simulated.is_on) {
    const auto found = run_simulated(asked, run, seed);
    if (!found) return {{"problem", found.error().message}};
    return {{"rows", rows_of(asked, settings, *found)}};
  }
  const auto found = run_tiers(asked, run, seed);
  if (!found) return {{"problem", found.error().message}};
  return {{"rows", {to_json(asked, settings, *found)}}};
}

/// Returns reports_of() from a child process, so that no run finds the memory of another.
base::result<nlohmann::json> run_apart(const tiers_options& asked, const tiers_run& run,
                                       unsigned round, std::uint64_t seed) {
  int ends[2];
  if (pipe(ends) != 0) return std::unexpected(base::system_error("cannot make a pipe", errno));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return std::unexpected(base::system_error("cannot start a run", errno));
  if (child == 0) {
    close(ends[0]);
    const std::string text = tool::text_of(reports_of(asked, run, round, seed));
    const bool is_written =
        write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(is_written ? 0 : 1);  // the tree is not taken apart
  }
  close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t bytes = 0; (bytes = read(ends[0], piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(bytes));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  auto report = nlohmann::json::parse(text, nullptr, false);
  if (!report.is_object()) return std::unexpected(base::error{"a run ended without a report", 0});
  if (report.contains("problem")) {
    return std::unexpected(base::error{report["problem"].get<std::string>(), 0});
  }
  return report["rows"];
}

void print_head(const nlohmann::json& first) {
  fmt::print(
      "slow memory is emulated: {:.0f} ns a miss, fast {:.0f} ns; {:.0f} MiB of nodes, {} "
      "keys, {} threads\n",
      first["slow_ns"].get<double>(), first["fast_ns"].get<double>(),
      first["node_bytes"].get<double>() / (1 << 20), first["keys"].get<std::uint64_t>(),
      first["threads"].get<unsigned>());
  fmt::print("{:<11}{:<10}{:>6}  {:<12}{:>12}{:>10}{:>10}{:>10}{:>12}\n", "index", "workload",
             "fast", "placement", "ops/s", "p50 us", "p90 us", "p99 us", "fast used");
}

void print_row(const nlohmann::json& row) {
  const auto& latency = row["latency_us"];
  const double limit = row["fast_bytes_limit"].get<double>();
  fmt::print(
      "{:<11}{:<10}{:>5.0f}%  {:<12}{:>12.0f}{:>10.2f}{:>10.2f}{:>10.2f}{:>12}\n",
      row["index"].get<std::string>(), row["workload"].get<std::string>(),
      row["fast_share"].get<double>() * 100, row["placement"].get<std::string>(),
      row["throughput_ops_s"].get<double>(), latency["p50"].get<double>(),
      latency["p90"].get<double>(), latency["p99"].get<double>(),
      limit > 0 ? fmt::format("{:.0f}%", row["fast_bytes"].get<double>() / limit * 100) : "-");
  std::fflush(stdout);
}

}  // namespace

base::result<void> run_all_tiers(const tiers_options& asked) {
  auto runs = understand(asked);
  if (!runs) return std::unexpected(runs.error());
  const auto print_first = asked.simulated.is_on ? print_simulated_head : print_head;
  const auto print = asked.simulated.is_on ? print_simulated_row : print_row;
  bool is_first = true;
  // By the index and the number of keys, which are the same in all its runs.
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> node_bytes;
  for (unsigned round = 0; round < asked.rounds; ++round) {
    const std::uint64_t seed = asked.seed ? *asked.seed + round : drawn_seed();
    for (tiers_run& run : *runs) {
      if (const auto known = node_bytes.find({run.index, run.keys}); known != node_bytes.end()) {
        run.node_bytes = known->second;
      }
      const auto rows = run_apart(asked, run, round, seed);
      if (!rows) return std::unexpected(rows.error());
      node_bytes[{run.index, run.keys}] = rows->front()["node_bytes"].get<std::uint64_t>();
      for (const nlohmann::json& row : *rows) {
        if (asked.json != "-") {
          if (is_first) print_first(row);
          print(row);
        }
        is_first = false;
        if (asked.json.empty()) continue;
        if (auto written = append_line(asked.json, row.dump()); !written) return written;
      }
    }
  }
  return {};
}

}  // namespace isotherm::lab
