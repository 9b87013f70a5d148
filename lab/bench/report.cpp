#include "lab/bench/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tool/origin.hpp"

namespace isotherm::lab {
namespace {

using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

/// Bytes of a process, which always has some: 0 means that a server did not tell.
json told(std::uint64_t bytes) { return bytes > 0 ? json(bytes) : json(); }

json latencies_of(const driven_summary& driven) {
  const auto& of = driven.latency_us;
  return {{"p50", of.p50},   {"p90", of.p90},   {"p99", of.p99},
          {"p999", of.p999}, {"mean", of.mean}, {"max", of.max}};
}

/// The driver's threads wait for the objects of an index in process, not for a server's.
bool can_see_waits(const bench_plan& plan) { return plan.asked.connect.empty(); }

void add_waits(json& object, const bench_plan& plan, const driven_summary& driven) {
  if (!can_see_waits(plan)) {
    object["miss_ratio"] = object["misses"] = nullptr;
    return;
  }
  object["miss_ratio"] = miss_ratio_of(driven);
  object["misses"] = driven.misses;
}

std::optional<double> promotion_rate_of(const window_sample& sample) {
  return sample.seen ? std::optional(sample.seen->promotion_rate) : std::nullopt;
}

json heaps_of(const window_sample& sample) {
  if (!sample.heaps) return nullptr;
  json heaps;
  for (const heap::kind where : heap::kKinds) {
    if (where == heap::kind::node) continue;  // "node_bytes" tells of it
    const heap::usage& usage = (*sample.heaps)[where];
    heaps[name_of(where)] = {{"objects", usage.objects},
                             {"bytes", usage.bytes},
                             {"extent_bytes", usage.extent_bytes},
                             {"resident_bytes", usage.resident_bytes}};
  }
  return heaps;
}

json node_bytes_of(const window_sample& sample) {
  return sample.heaps ? json((*sample.heaps)[heap::kind::node].resident_bytes) : json();
}

json cost_of(const std::optional<entry_cost>& cost) {
  if (!cost) return nullptr;
  return {{"nodes", cost->nodes}, {"guides", cost->guides}, {"soda", cost->soda}};
}

json nodes_of(const std::vector<node_shares>& shares) {
  if (shares.empty()) return nullptr;
  json nodes = json::array();
  for (const node_shares& each : shares) {
    nodes.push_back({{"records", each.records}, {"accesses", each.accesses}});
  }
  return nodes;
}

/// A statistic of the collector; null where it saw nothing.
json number_of(const collector::statistic& one, const window_sample& sample) {
  if (!sample.seen) return nullptr;
  return std::visit([](auto value) { return json(value); }, one.get(*sample.seen));
}

void add_bounds(json& object, const std::optional<std::uint64_t>& record_dram_bytes,
                const std::optional<miss_bounds>& misses) {
  object["record_dram_bytes"] = or_null(record_dram_bytes);
  object["object_lru_miss_ratio"] = misses ? json(misses->object_lru) : json();
  object["best_static_miss_ratio"] = misses ? json(misses->best_static) : json();
}

json curve_of(const std::optional<bounds_report>& found) {
  if (!found) return nullptr;
  json curve = json::array();
  for (const auto& [share, misses] : found->curve) {
    curve.push_back(
        {{"share", share}, {"object_lru", misses.object_lru}, {"best_static", misses.best_static}});
  }
  return {{"requests", found->requests},
          {"one_record_in", found->one_in},
          {"seconds", found->seconds},
          {"curve", std::move(curve)}};
}

json window_of(const bench_plan& plan, const window_sample& sample) {
  json window{{"at_seconds", sample.at_seconds},
              {"seconds", sample.seconds},
              {"warmup", sample.is_warmup},
              {"operations", sample.driven.operations},
              {"latency_us", latencies_of(sample.driven)},
              {"rss_bytes", told(sample.rss_bytes)},
              {"dram_bytes", told(sample.dram_bytes)},
              {"used_bytes", sample.used_bytes}};
  add_waits(window, plan, sample.driven);
  add_bounds(window, held_bytes(sample), sample.bounds);
  for (const auto& each : collector::statistic_table()) {
    window[each.name] = number_of(each, sample);
  }
  // The two that are known without a collector.
  window["page_utilization"] = or_null(sample.page_utilization);
  window["cold_threshold"] = sample.cold_threshold;
  window["node_bytes"] = node_bytes_of(sample);
  window["heaps"] = heaps_of(sample);
  return window;
}

/// Share of one processor that the collector took, over all windows.
std::optional<double> collector_share(const std::vector<window_sample>& windows) {
  double cpu = 0, seconds = 0;
  for (const auto& sample : windows) {
    if (!sample.seen) return std::nullopt;
    cpu += sample.seen->collector_cpu_seconds;
    seconds += sample.seconds;
  }
  return seconds > 0 ? std::optional(cpu / seconds) : std::nullopt;
}

/// The options of a collector in this process: numbers and switches as such, words as text.
json options_of(const collector::options& chosen) {
  json all;
  for (const auto& each : collector::option_table()) {
    all[each.name] = std::visit(
        [&](const auto& held) -> json {
          if constexpr (requires { held.member; }) {
            return chosen.*held.member;
          } else {
            return each.get(chosen);
          }
        },
        each.value);
  }
  return all;
}

json settings_of(const bench_plan& plan, const bench_result& found) {
  const bench_options& asked = plan.asked;
  return {{"index", found.index},
          {"workload", std::string(1, plan.load.workload.letter)},
          {"mix", asked.mix.empty() ? json() : json(asked.mix)},
          {"keys", asked.keys},
          {"key_size", asked.key_size},
          {"value_size", asked.value_size},
          {"least_value_size", plan.format.least_value_size},
          {"value_sizes", name_of(plan.format.sizes)},
          {"ttl_seconds", asked.ttl},
          {"threads", asked.threads},
          {"manage", found.manage},
          {"protocol", asked.collector.protocol},
          {"huge_pages", asked.huge_pages},
          {"distribution", name_of(plan.load.keys_by.which)},
          {"theta", asked.theta},
          {"rate", asked.rate},
          {"seconds", found.driven.seconds},
          {"warmup_seconds", asked.warmup},
          {"window_seconds", asked.collector.window_seconds},
          {"cold_backing", asked.cold_backing},
          {"hint", collector::find_option("hint")->get(asked.collector)},
          {"seed", plan.load.seed},
          {"requests_checksum", fmt::format("{:016x}", workload::checksum_of_requests(plan.load))},
          {"target", asked.connect.empty() ? "in-process" : asked.connect},
          {"processors", std::thread::hardware_concurrency()}};
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}%", *share * 100) : "-";
}

std::string mebibytes(std::uint64_t bytes) {
  if (bytes == 0) return "-";
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string bounds_text(const std::optional<bounds_report>& found) {
  if (!found || !found->misses || !found->record_dram_bytes) return "";
  return fmt::format("; with {} for records, object-LRU {}, best static {}",
                     mebibytes(*found->record_dram_bytes), percent(found->misses->object_lru),
                     percent(found->misses->best_static));
}

/// Share of the loaded records that the driver used in the window.
double used_share_of(const bench_plan& plan, const window_sample& sample) {
  return static_cast<double>(sample.used_bytes) /
         static_cast<double>(plan.format.object_bytes() * plan.load.keys);
}

std::optional<double> share_of_best(const operating_point& point, const window_sample& sample) {
  if (!sample.page_utilization || point.best_utilization == 0) return std::nullopt;
  return *sample.page_utilization / point.best_utilization;
}

json point_of(const bench_plan& plan, const bench_result& found) {
  if (!found.point) return nullptr;
  const window_sample& last = found.windows.back();
  return {{"requests", found.point->requests},
          {"requests_per_record", found.point->requests_per_record},
          {"expected_used_share", found.point->used_share},
          {"used_share", used_share_of(plan, last)},
          {"best_page_utilization", found.point->best_utilization},
          {"share_of_best", or_null(share_of_best(*found.point, last))}};
}

std::string point_text(const bench_plan& plan, const bench_result& found) {
  if (!found.point) return "";
  const window_sample& last = found.windows.back();
  return fmt::format(
      "operating point {:.3g} requests a record in the last window ({:.3g} s); {:.1f}% of the "
      "records used, {:.1f}% expected\n",
      found.point->requests_per_record, last.seconds, used_share_of(plan, last) * 100,
      found.point->used_share * 100);
}

/// Beside the page utilization.
std::string best_text(const bench_result& found) {
  if (!found.point) return "";
  const auto share = share_of_best(*found.point, found.windows.back());
  const std::string reached = share ? fmt::format("{} of ", percent(share)) : "";
  return fmt::format(" ({}the best {} of any fixed order)", reached,
                     percent(found.point->best_utilization));
}

}  // namespace

json to_json(const bench_plan& plan, const bench_result& found) {
  json object = settings_of(plan, found);
  add_found(object, plan, found);
  return object;
}

void add_found(json& object, const bench_plan& plan, const bench_result& found) {
  const workload::tally& driven = found.driven.sums;
  const window_sample& last = found.windows.back();
  object["origin"] = tool::origin();
  if (last.seen && plan.asked.connect.empty()) {
    object["collector"] = options_of(plan.asked.collector);
  }
  object["load_seconds"] = found.load_seconds;
  const driven_summary summary = summary_of(driven);
  object["operations"] = driven.operations();
  for (std::size_t i = 0; i < workload::kOperations; ++i) {
    object["operations_by_kind"][name_of(static_cast<workload::operation>(i))] = driven.by_kind[i];
  }
  object["missing"] = driven.missing;
  object["corrupt"] = driven.corrupt;
  object["throughput_ops_s"] = found.driven.throughput();
  object["latency_us"] = latencies_of(summary);
  add_waits(object, plan, summary);
  add_bounds(object, found.bounds ? found.bounds->record_dram_bytes : std::nullopt,
             found.bounds ? found.bounds->misses : std::nullopt);
  object["miss_bounds"] = curve_of(found.bounds);
  object["operating_point"] = point_of(plan, found);
  object["rss_bytes"] = told(last.rss_bytes);
  object["dram_bytes"] = told(last.dram_bytes);
  object["rss_peak_bytes"] = told(last.rss_peak_bytes);
  object["node_bytes"] = node_bytes_of(last);
  object["page_utilization"] = or_null(last.page_utilization);
  object["promotion_rate"] = or_null(promotion_rate_of(last));
  object["cold_threshold"] = last.cold_threshold;
  object["index_bytes_per_entry"] = cost_of(found.per_entry);
  object["memory_nodes"] = nodes_of(found.nodes);
  object["heaps"] = heaps_of(last);
  object["collector_cpu_fraction"] = or_null(collector_share(found.windows));
  object["windows"] = json::array();
  for (const auto& sample : found.windows) object["windows"].push_back(window_of(plan, sample));
}

std::string to_text(const bench_plan& plan, const bench_result& found) {
  return fmt::format("{} workload {} manage {}: {:.0f} ops/s over {:.1f} s, seed {}\n{}",
                     found.index, plan.load.workload.letter, found.manage,
                     found.driven.throughput(), found.driven.seconds, plan.load.seed,
                     found_text(plan, found));
}

std::string found_text(const bench_plan& plan, const bench_result& found) {
  const driven_summary driven = summary_of(found.driven.sums);
  const auto& latency = driven.latency_us;
  const window_sample& last = found.windows.back();
  return fmt::format(
      "latency us      p50 {:.2f}  p90 {:.2f}  p99 {:.2f}  p99.9 {:.2f}{}\n"
      "misses          {} of the requests waited for a disk or for swap{}\n"
      "memory          RSS {}  DRAM {}  peak RSS {}\n"
      "{}"
      "pages           utilization {}{}  promotion rate {} a minute  cold threshold {}\n",
      latency.p50, latency.p90, latency.p99, latency.p999,
      plan.asked.rate > 0 ? "  (from intended start)" : "",
      percent(can_see_waits(plan) ? std::optional(miss_ratio_of(driven)) : std::nullopt),
      bounds_text(found.bounds), mebibytes(last.rss_bytes), mebibytes(last.dram_bytes),
      mebibytes(last.rss_peak_bytes), point_text(plan, found), percent(last.page_utilization),
      best_text(found), percent(promotion_rate_of(last)), last.cold_threshold);
}

void announce(const bench_plan& plan) {
  if (plan.asked.json == "-") return;
  fmt::print("{}", announcement(plan));
  std::fflush(stdout);  // The run may be long, and its output a pipe.
}

base::result<void> append_line(const std::string& where, const std::string& line) {
  if (where == "-") {
    fmt::print("{}\n", line);
    std::fflush(stdout);
    return {};
  }
  std::ofstream file(where, std::ios::app);
  file << line << '\n' << std::flush;
  if (file) return {};
  return std::unexpected(base::system_error("cannot write --json " + where, errno));
}

base::result<void> write_keys(const std::string& where, const workload::record_format& format,
                              std::span<const workload::touched_keys::last_use> uses) {
  std::ofstream file(where);
  std::string key(format.key_size, 0);
  for (const auto& use : uses) {
    workload::write_key(use.number, key);
    file << key << ' ' << use.age << '\n';
  }
  if (file.flush()) return {};
  return std::unexpected(base::system_error("cannot write --used " + where, errno));
}

progress_line::progress_line() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() { show(""); }

void progress_line::show(const std::string& text) {
  if (terminal_) fmt::print(stderr, "\r\033[K{}", text);
}

}  // namespace isotherm::lab
