#include "lab/replay/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/replay/driver.hpp"

namespace isotherm::replay {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 20;

json settings_of(const report& of) {
  const auto& bench = of.plan.asked;
  return {{"trace", of.asked.trace},
          {"format", of.seen.format},
          {"malformed_lines", of.seen.malformed.count},
          {"requests", of.seen.requests},
          {"keys", of.seen.keys()},
          {"key_size", of.plan.format.key_size},
          {"value_size", of.plan.format.value_size},
          {"trace_seconds",
           of.seen.has_times ? json(static_cast<double>(of.seen.last_us - of.seen.first_us) / 1e6)
                             : json()},
          {"speed", of.asked.speed > 0 ? json(of.asked.speed) : json()},
          {"rate", bench.rate > 0 ? json(bench.rate) : json()},
          {"filled_keys", of.filled},
          {"expired_by_driver", of.expired},
          {"driver_bytes", of.seen.bytes()},
          {"index", of.found.index},
          {"manage", of.found.manage},
          {"threads", bench.threads},
          {"seconds", of.found.driven.seconds},
          {"window_seconds", bench.collector.window_seconds},
          {"cold_backing", bench.cold_backing},
          {"huge_pages", bench.huge_pages},
          {"target", bench.connect.empty() ? "in-process" : bench.connect}};
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}%", *share * 100) : "-";
}

std::string windows_text(const std::vector<lab::window_sample>& windows) {
  std::string text = "at s      RSS MiB  DRAM MiB  utilization  promoted a minute  threshold\n";
  const std::size_t step = (windows.size() + kMostRows - 1) / kMostRows;
  for (std::size_t i = step - 1; i < windows.size(); i += step) {
    const auto& row = windows[i];
    text += fmt::format("{:<8.1f}  {:>7}  {:>8}  {:>11}  {:>17}  {:>9}\n", row.at_seconds,
                        row.rss_bytes >> 20, row.dram_bytes >> 20, percent(row.page_utilization),
                        percent(row.seen ? std::optional(row.seen->promotion_rate) : std::nullopt),
                        row.cold_threshold);
  }
  return text;
}

}  // namespace

json to_json(const report& of) {
  json object = settings_of(of);
  lab::add_found(object, of.plan, of.found);
  json by_kind;
  for (std::size_t i = 0; i < traces::kOperations; ++i) {
    const auto kind = static_cast<traces::operation>(i);
    by_kind[std::string(name_of(kind))] =
        of.found.driven.sums.by_kind[static_cast<std::size_t>(counted_as(kind))];
  }
  object["operations_by_kind"] = std::move(by_kind);
  return object;
}

std::string to_text(const report& of) {
  const auto& sums = of.found.driven.sums;
  std::string text = fmt::format(
      "{} on {} manage {}: {} requests of {} keys in {:.1f} s, {:.0f} ops/s{}\n", of.asked.trace,
      of.found.index, of.found.manage, sums.operations(), of.seen.keys(), of.found.driven.seconds,
      of.found.driven.throughput(),
      of.asked.speed > 0 ? fmt::format(", at {:g} times the trace's speed", of.asked.speed) : "");
  if (of.seen.malformed.count > 0) text += describe(of.seen.malformed) + '\n';
  text += fmt::format(
      "requests        {} keys inserted before, {} requests met no value, {} values expired by the "
      "driver\n",
      of.filled, sums.missing, of.expired);
  return text + lab::found_text(of.plan, of.found) + windows_text(of.found.windows);
}

}  // namespace isotherm::replay
