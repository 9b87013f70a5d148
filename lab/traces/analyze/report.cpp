#include "lab/traces/analyze/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace isotherm::traces {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view kShades = " .:-=+*#%@";

std::string bytes_text(double bytes) {
  if (bytes < 10 * 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 10 * 1048576.0) return fmt::format("{:.1f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / 1048576);
}

std::string operations_text(const figures& found) {
  std::string text;
  for (std::size_t i = 0; i < kOperations; ++i) {
    if (found.by_kind[i] == 0) continue;
    text +=
        fmt::format("{}{} {:.2f}%", text.empty() ? "" : ", ", name_of(static_cast<operation>(i)),
                    100 * static_cast<double>(found.by_kind[i]) /
                        static_cast<double>(std::max<std::uint64_t>(found.requests, 1)));
  }
  return text;
}

std::string method_of(const figures& found) {
  if (found.one_in == 1) return "all keys";
  return fmt::format("a sample of 1 in {:.0f} keys by their hashes (SHARDS), scaled up",
                     found.one_in);
}

std::string popularity_text(const figures& found) {
  std::string text = "rank of the key   uses\n";
  for (const auto& [rank, uses] : rank_curve(found)) {
    text += fmt::format("{:>15}   {}\n",
                        fmt::format("{:.0f}", static_cast<double>(rank) * found.one_in), uses);
  }
  return text + fmt::format(
                    "the most popular 1%, 10%, 20% of the keys have {:.1f}%, {:.1f}%, {:.1f}% of "
                    "the uses\nZipf theta {:.3f} by greatest likelihood over the ranks; its shares "
                    "differ by up to {:.1f}% of all uses\n",
                    100 * found.share_of_top(0.01), 100 * found.share_of_top(0.1),
                    100 * found.share_of_top(0.2), found.theta, 100 * found.misfit);
}

std::string gaps_text(const figures& found) {
  std::string text = fmt::format(
      "value size        keys   keys with {} gaps   median gap   p75/p25 > 5   > 10   > 30\n",
      kLeastGaps);
  for (const auto& each : found.sizes) {
    if (each.keys == 0) continue;
    text += fmt::format("{:<12} {:>9}   {:>16}", each.name, each.keys, each.gapped_keys);
    if (each.gapped_keys > 0) {
      text += fmt::format("   {:>10.0f}   {:>10.1f}%  {:>4.1f}%  {:>4.1f}%", each.median_gap,
                          100 * each.over_5, 100 * each.over_10, 100 * each.over_30);
    }
    text += '\n';
  }
  return text;
}

std::string heat_text(const heat_map& map) {
  const shades shade_of(map);
  std::string text;
  for (std::size_t row = 0; row < heat_map::kRows; ++row) {
    text += fmt::format("{:>12} |", map.requests_per_row * row);
    for (const double uses : map.cells[row]) {
      const auto at = static_cast<std::size_t>(std::ceil(shade_of(uses) * (kShades.size() - 1)));
      text += kShades[std::min(at, kShades.size() - 1)];
    }
    text += "|\n";
  }
  return text;
}

json gaps_of(const figures& found) {
  json all = json::array();
  for (const auto& each : found.sizes) {
    if (each.keys == 0) continue;
    all.push_back({{"value_size", each.name},
                   {"keys", each.keys},
                   {"gapped_keys", each.gapped_keys},
                   {"median_gap", each.median_gap},
                   {"spread_over_5", each.over_5},
                   {"spread_over_10", each.over_10},
                   {"spread_over_30", each.over_30}});
  }
  return all;
}

json malformed_of(const malformed_lines& found) {
  json first = json::array();
  for (const auto& [number, reason] : found.first) {
    first.push_back({{"line", number}, {"reason", reason}});
  }
  return {{"lines", found.count}, {"first", std::move(first)}};
}

}  // namespace

std::vector<rank_point> rank_curve(const figures& found) {
  std::vector<rank_point> curve;
  for (std::uint64_t ten = 1; ten <= found.uses.size(); ten *= 10) {
    for (const std::uint64_t rank : {ten, 2 * ten, 5 * ten}) {
      if (rank <= found.uses.size()) curve.push_back({rank, found.uses[rank - 1]});
    }
  }
  return curve;
}

shades::shades(const heat_map& map) noexcept {
  least_ = std::numeric_limits<double>::max();
  greatest_ = std::numeric_limits<double>::lowest();
  for (const auto& row : map.cells) {
    for (const double uses : row) {
      if (uses == 0) continue;
      least_ = std::min(least_, std::log(uses));
      greatest_ = std::max(greatest_, std::log(uses));
    }
  }
}

double shades::operator()(double uses) const noexcept {
  if (uses == 0) return 0;
  if (greatest_ <= least_) return 1;
  constexpr double kFaintest = 0.1;
  return kFaintest + (1 - kFaintest) * (std::log(uses) - least_) / (greatest_ - least_);
}

std::string to_text(const figures& found, const std::string& name) {
  std::string text = fmt::format("{}: {} requests, format {}", name, found.requests, found.format);
  if (found.has_times) text += fmt::format(", {:.1f} s", found.seconds);
  text += '\n';
  if (found.malformed.count > 0) text += describe(found.malformed) + '\n';
  text += fmt::format("operations   {}\n", operations_text(found));
  text += fmt::format(
      "keys         {:.0f} different ones, {:.1f} requests a key, {:.1f}% used once; from {}\n",
      found.keys, static_cast<double>(found.requests) / std::max(found.keys, 1.0),
      100 * found.used_once, method_of(found));
  text += fmt::format(
      "bytes        {} of keys, {} of values{}\n\n", bytes_text(found.key_bytes),
      bytes_text(found.value_bytes),
      found.mean_value > 0
          ? fmt::format("; a request's value has {:.0f} B in the mean", found.mean_value)
          : ": the trace tells no sizes of values");
  text += popularity_text(found);
  text += "\nGaps between two uses of a key, in requests, by the size of its value\n";
  text += gaps_text(found);
  text += "\nroom for so many of the keys   requests that miss in an LRU cache\n";
  for (const auto& [share, misses] : found.lru) {
    text += fmt::format("{:>29.0f}%   {:.2f}%\n", 100 * share, 100 * misses);
  }
  text += fmt::format(
      "\nUses over time: a row is {} requests, a column {} followed keys, the most popular on the "
      "left;\nshades by the logarithm of the uses of a key\n",
      found.heat.requests_per_row, found.heat.keys_per_column);
  return text + heat_text(found.heat);
}

json to_json(const figures& found, const std::string& name) {
  json object{{"trace", name},
              {"format", found.format},
              {"requests", found.requests},
              {"malformed", malformed_of(found.malformed)},
              {"seconds", found.has_times ? json(found.seconds) : json()}};
  for (std::size_t i = 0; i < kOperations; ++i) {
    object["operations"][std::string(name_of(static_cast<operation>(i)))] = found.by_kind[i];
  }
  object["one_key_in"] = found.one_in;
  object["keys"] = found.keys;
  object["keys_used_once"] = found.used_once;
  object["key_bytes"] = found.key_bytes;
  object["value_bytes"] = found.value_bytes;
  object["mean_value_bytes"] = found.mean_value;
  object["zipf"] = {{"theta", found.theta},
                    {"method", "greatest likelihood over the ranks of the followed keys"},
                    {"misfit", found.misfit}};
  object["ranks"] = json::array();
  for (const auto& [rank, uses] : rank_curve(found)) {
    object["ranks"].push_back({{"rank", static_cast<double>(rank) * found.one_in}, {"uses", uses}});
  }
  for (const double share : {0.01, 0.1, 0.2}) {
    object["share_of_top"][fmt::format("{}", share)] = found.share_of_top(share);
  }
  object["gaps_by_value_size"] = gaps_of(found);
  object["lru"] = json::array();
  for (const auto& [share, misses] : found.lru) {
    object["lru"].push_back({{"share_of_keys", share}, {"miss_ratio", misses}});
  }
  object["heat"] = {{"requests_per_row", found.heat.requests_per_row},
                    {"keys_per_column", found.heat.keys_per_column},
                    {"cells", found.heat.cells}};
  return object;
}

}  // namespace isotherm::traces
