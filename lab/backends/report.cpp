#include "lab/backends/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace isotherm::lab {
namespace {

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.0f}", static_cast<double>(bytes) / (1 << 20));
}

/// Requests of the stores together, and those of them that waited.
struct served {
  double rate = 0, seconds = 0, p99_us = 0;
  std::uint64_t operations = 0, waited = 0, misses = 0;

  double hit_ratio() const noexcept {
    return 1 - static_cast<double>(waited) /
                   static_cast<double>(std::max<std::uint64_t>(operations, 1));
  }
};

served sum_of(const std::vector<nlohmann::json>& stores) {
  served sum;
  for (const nlohmann::json& each : stores) {
    sum.rate += each["throughput_ops_s"].get<double>();
    sum.seconds = std::max(sum.seconds, each["seconds"].get<double>());
    sum.operations += each["operations"].get<std::uint64_t>();
    sum.waited += each["waited"].get<std::uint64_t>();
    sum.misses += each["misses"].get<std::uint64_t>();
    sum.p99_us = std::max(sum.p99_us, each["latency_us"]["p99"].get<double>());
  }
  return sum;
}

nlohmann::json group_of(const std::optional<group_memory>& group) {
  if (!group) return nullptr;
  return {{"charged_bytes", group->charged}, {"anonymous_bytes", group->anonymous},
          {"file_bytes", group->file},       {"swap_cache_bytes", group->swap_cache},
          {"swapped_bytes", group->swapped}, {"major_faults", group->major_faults},
          {"refaults", group->refaults}};
}

std::string row_of(std::string_view name, std::string_view backend, std::string_view manage,
                   const std::string& memory, const served& did, const std::string& group) {
  return fmt::format("{:<34}{:<9}{:<5}{:>19}{:>8.2f}%{:>11.0f}{:>21}{:>11.0f}{:>9.0f}\n", name,
                     backend, manage, memory, did.hit_ratio() * 100,
                     static_cast<double>(did.misses) / std::max(did.seconds, 1e-9), group, did.rate,
                     did.p99_us);
}

}  // namespace

nlohmann::json settings_of(const backends_options& asked, const backends_run& run, unsigned round,
                           std::uint64_t seed) {
  const bench_options& store = asked.store;
  const bool needs_swap = run.kind->needs_swap;
  return {{"benchmark", "backends"},
          {"backend", run.kind->name},
          {"store", run.stores},
          {"manage", run.manage},
          {"round", round},
          {"seed", seed},
          {"keys", store.keys},
          {"key_size", store.key_size},
          {"value_size", store.value_size},
          {"distribution", store.distribution},
          {"hotspot_keys", store.hotspot_keys},
          {"hotspot_accesses", store.hotspot_accesses},
          {"threads", store.threads},
          {"rate", store.rate},
          {"record_bytes", run.record_bytes},
          {"budget_bytes", run.chosen.budget_bytes},
          {"swap", needs_swap ? nlohmann::json(name(run.kind->swap.value_or(asked.swap)))
                              : nlohmann::json()},
          {"settle_seconds", asked.settle},
          {"adapt_seconds", asked.adapt},
          {"window_seconds", store.collector.window_seconds}};
}

nlohmann::json to_json(const backends_result& found) {
  const served sum = sum_of(found.stores);
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  return {{"dram_bytes", found.dram_bytes},
          {"most_dram_bytes", found.most_dram_bytes},
          {"zram_bytes", found.zram_bytes},
          {"neighbour_bytes", found.foreign_bytes},
          {"hit_ratio", sum.hit_ratio()},
          {"misses", sum.misses},
          {"operations", sum.operations},
          {"seconds", sum.seconds},
          {"throughput_ops_s", sum.rate},
          {"group", group_of(found.group)},
          {"stalled_percent", or_null(found.stalled_percent)},
          {"stores", found.stores},
          {"backend_seconds", found.seconds},
          {"counters", found.counters},
          {"details", found.details}};
}

std::string backends_head() {
  return fmt::format("{:<34}{:<9}{:<5}{:>19}{:>9}{:>11}{:>21}{:>11}{:>9}\n", "store", "backend",
                     "man.", "DRAM MiB (of zram)", "hits", "misses/s", "refaults/s, stalls",
                     "ops/s", "p99 us");
}

std::string backends_row(const backends_run& run, const backends_result& found) {
  const served sum = sum_of(found.stores);
  std::string memory = mebibytes(found.dram_bytes);
  if (found.zram_bytes > 0) memory += fmt::format(" ({})", mebibytes(found.zram_bytes));
  std::string group = "-";
  if (found.group) {
    group = fmt::format("{:.0f}",
                        static_cast<double>(found.group->refaults) / std::max(sum.seconds, 1e-9));
  }
  if (found.stalled_percent) group += fmt::format(", {:.1f}%", *found.stalled_percent);
  std::string text = row_of(run.stores, run.kind->name, run.manage, memory, sum, group);
  if (found.stores.size() == 1) return text;
  for (const nlohmann::json& each : found.stores) {
    text += row_of(fmt::format("  {}:{}", each["index"].get<std::string>(),
                               each["workload"].get<std::string>()),
                   "", "", mebibytes(each["rss_bytes"].get<std::uint64_t>()), sum_of({each}), "");
  }
  return text;
}

}  // namespace isotherm::lab
