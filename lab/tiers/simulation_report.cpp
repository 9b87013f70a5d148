#include "lab/tiers/simulation_report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "tool/origin.hpp"

namespace isotherm::lab {
namespace {

using nlohmann::json;

double per_request(std::uint64_t count, const simulated_result& found) {
  return static_cast<double>(count) / static_cast<double>(found.requests);
}

json visits_of(const simulated_result& found) {
  json all = json::object();
  for (std::size_t kind = 0; kind < kVisitedKinds; ++kind) {
    const auto& [fast, slow] = found.visits[kind].visits;
    all[name_of(static_cast<visited>(kind))] = {{"fast", per_request(fast, found)},
                                                {"slow", per_request(slow, found)}};
  }
  return all;
}

json until_hot_fast(const simulated_result& found) {
  json all = json::array();
  for (const hot_leaves_fast& each : found.until_hot_fast) {
    all.push_back({{"seconds", each.seconds ? json(*each.seconds) : json()},
                   {"visits", each.visits ? json(*each.visits) : json()}});
  }
  return all;
}

json quantiles_of(const request_misses& requests, double slow_ratio) {
  const auto at = [&](double share) {
    return requests.quantile(share, kModelledMissNs, slow_ratio * kModelledMissNs);
  };
  return {{"p50", at(0.5)}, {"p90", at(0.9)}, {"p99", at(0.99)}};
}

/// Without processor times, which are no counts.
json timeless(const json& details) {
  json kept = json::object();
  for (const auto& [name, value] : details.items()) {
    if (!name.ends_with("_seconds")) kept[name] = value;
  }
  return kept;
}

/// Removes the date, so that the same seed gives the same text.
json dateless(json origin) {
  origin.erase("date");
  return origin;
}

json counts_of(const tiers_options& asked, json row, const simulated_result& found) {
  json fast_misses = json::array(), slow_misses = json::array();
  for (const auto& [fast, slow] : found.sum.misses) {
    fast_misses.push_back(per_request(fast, found));
    slow_misses.push_back(per_request(slow, found));
  }
  row.update({{"memory", "simulated"},
              {"requests", found.requests},
              {"rate", asked.simulated.rate},
              {"visit_ns", asked.simulated.visit_ns},
              {"records_in_leaves", asked.simulated.has_records_in_leaves},
              {"cache_mib", kCacheMib},
              {"miss_ns", kModelledMissNs},
              {"hit_ns", kModelledHitNs},
              {"visits_per_op", visits_of(found)},
              {"fast_visits_per_op", per_request(found.sum.visits[0], found)},
              {"slow_visits_per_op", per_request(found.sum.visits[1], found)},
              {"fast_misses_per_op", fast_misses},
              {"slow_misses_per_op", slow_misses},
              {"node_bytes", found.node_bytes},
              {"fast_bytes_limit", found.fast_bytes_limit},
              {"fast_bytes", found.fast_bytes},
              {"fast_page_bytes", found.fast_page_bytes},
              {"moved_bytes", found.moved_bytes},
              {"most_moved_bytes", found.most_moved_bytes},
              {"until_hot_fast", until_hot_fast(found)},
              {"leaves_per_turn", found.leaves_per_turn},
              {"details", timeless(found.details)},
              {"origin", dateless(tool::origin())}});
  return row;
}

}  // namespace

std::vector<json> rows_of(const tiers_options& asked, const json& settings,
                          const simulated_result& found) {
  std::vector<json> rows;
  const json counts = counts_of(asked, settings, found);
  for (const double slow_ratio : asked.simulated.slow_ratios) {
    json modelled = json::array(), all_fast = json::array(), quantiles = json::array();
    for (std::size_t i = 0; i < kCaches; ++i) {
      modelled.push_back(modelled_ns(found, slow_ratio, i));
      all_fast.push_back(all_fast_ns(found, i));
      quantiles.push_back(quantiles_of(found.by_request[i], slow_ratio));
    }
    json row = counts;
    row["slow_ratio"] = slow_ratio;
    row["modelled_ns_per_op"] = modelled;
    row["all_fast_ns_per_op"] = all_fast;
    row["modelled_latency_ns"] = quantiles;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_simulated_head(const json& first) {
  fmt::print(
      "simulated: visits are counted and times are modelled, {:.0f} ns a fast miss, {:.0f} ns a "
      "hit;\n{:.0f} MiB of nodes, {} keys; behind caches of 0, 2, 8 and 32 MiB\n",
      first["miss_ns"].get<double>(), first["hit_ns"].get<double>(),
      first["node_bytes"].get<double>() / (1 << 20), first["keys"].get<std::uint64_t>());
  fmt::print("{:<10}{:<8}{:>5}  {:<11}{:>6}{:>13}{:>26}{:>11}{:>10}{:>10}\n", "index", "workload",
             "fast", "placement", "slow x", "visits f/s", "modelled ns a request", "fast pages",
             "moved MiB", "95% hot");
}

void print_simulated_row(const json& row) {
  const double limit = row["fast_bytes_limit"].get<double>();
  const auto& times = row["modelled_ns_per_op"];
  std::string modelled;
  for (const json& each : times) modelled += fmt::format("{:>6.0f}", each.get<double>());
  std::string hot = "-";
  if (const auto& until = row["until_hot_fast"]; !until.empty()) {
    const json& last = until.back()["seconds"];
    hot = last.is_null() ? "never" : fmt::format("{:.1f} s", last.get<double>());
  }
  fmt::print(
      "{:<10}{:<8}{:>4.0f}%  {:<11}{:>6g}{:>7.2f}/{:<5.2f}{:>26}{:>11}{:>10.1f}{:>10}\n",
      row["index"].get<std::string>(), row["workload"].get<std::string>(),
      row["fast_share"].get<double>() * 100, row["placement"].get<std::string>(),
      row["slow_ratio"].get<double>(), row["fast_visits_per_op"].get<double>(),
      row["slow_visits_per_op"].get<double>(), modelled,
      limit > 0 ? fmt::format("{:.0f}%", row["fast_page_bytes"].get<double>() / limit * 100) : "-",
      row["moved_bytes"].get<double>() / (1 << 20), hot);
  std::fflush(stdout);
}

}  // namespace isotherm::lab
