// In process: heaps, index and collector are this process's own. With --manage off the index holds
// plain pointers, and no heap is made.
#include <fmt/format.h>

#include <algorithm>

#include "collector/collector.hpp"
#include "guide/object.hpp"
#include "guide/soda.hpp"
#include "heap/configure.hpp"
#include "heap/usage.hpp"
#include "index/index.hpp"
#include "lab/bench/index_target.hpp"
#include "lab/bench/run.hpp"
#include "lab/bench/usage_map.hpp"
#include "lab/bench/windows.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::lab {
namespace {

base::result<void> configure_heaps(const bench_options& asked) {
  const auto backing = heap::cold_backing::parse(asked.cold_backing);
  if (!backing) return std::unexpected(backing.error());
  heap::options chosen;
  chosen.cold = *backing;
  chosen.huge_pages = asked.huge_pages;
  return heap::configure(chosen);
}

window_sample sample_of(const collector::window_statistics& seen) {
  window_sample sample;
  sample.heaps.emplace();
  for (const heap::kind where : heap::kKinds) (*sample.heaps)[where] = heap::usage_of(where);
  const heap::footprint memory =
      heap::read_footprint((*sample.heaps)[heap::kind::cold].resident_bytes);
  sample.rss_bytes = memory.rss;
  sample.rss_peak_bytes = memory.rss_peak;
  sample.dram_bytes = memory.dram;
  sample.seen = seen;
  return sample;
}

window_sample unmanaged_sample() {
  const os::process_memory memory = os::read_process_memory();
  window_sample sample;
  sample.rss_bytes = sample.dram_bytes = memory.rss_bytes;
  sample.rss_peak_bytes = memory.rss_peak_bytes;
  return sample;
}

/// The keys and values that were used in the current window and their pages, without a collector:
/// walks the index. No concurrent writers.
usage_map usage_by_walk(index::any_index& index, const workload::touched_keys& used) {
  usage_map map;
  const auto add = [&](std::string_view object) {
    map.add(reinterpret_cast<std::uintptr_t>(object.data()), object.size(), use::used);
  };
  std::uint64_t cursor = 0;
  do {
    access inside;
    cursor = index.walk(inside, cursor, [&](const auto& key, const auto& value) {
      if (!key || !value) return true;
      const auto number = workload::number_of(*value);
      if (!number || !used.is_current(*number)) return true;
      add(*key);
      add(*value);
      return true;
    });
  } while (cursor != 0);
  return map;
}

/// Drives without a collector; the windows' ends are the driver's own.
base::result<workload::outcome> drive_unmanaged(workload::target& store, index::any_index& index,
                                                const bench_plan& plan, window_recorder& windows) {
  const double total = plan.asked.warmup + plan.asked.seconds;
  double done = 0;
  auto driven =
      workload::run(store, plan.load, windows.counts(), windows.used(), [&](const auto& now) {
        windows.watch(now);
        done = now.seconds + (now.is_warmup ? 0 : plan.asked.warmup);
        // The last window ends with the run, so that it is never a splinter.
        if (windows.window_age() >= plan.asked.collector.window_seconds &&
            total - done > plan.asked.collector.window_seconds / 2) {
          windows.end_window(unmanaged_sample());
        }
        return true;
      });
  if (!driven) return driven;
  window_sample last = unmanaged_sample();
  last.page_utilization = usage_by_walk(index, windows.used()).utilization();
  windows.end_window(last);
  return driven;
}

base::result<workload::outcome> drive_managed(workload::target& store, const bench_plan& plan,
                                              window_recorder& windows) {
  collector::object_collector collector(plan.asked.collector);
  collector.on_window([&](const auto& seen) { windows.end_window(sample_of(seen)); });
  if (auto started = collector.start(); !started) return std::unexpected(started.error());
  auto driven =
      workload::run(store, plan.load, windows.counts(), windows.used(), [&](const auto& now) {
        windows.watch(now);
        return true;
      });
  if (!driven) return driven;
  if (windows.is_empty()) {
    const auto seen = collector.run_window();
    if (windows.is_empty()) windows.end_window(sample_of(seen));
  }
  collector.stop();
  return driven;
}

entry_cost cost_of(const index::any_index& index) {
  const auto entries = static_cast<double>(std::max<std::size_t>(index.size(), 1));
  return {.nodes = static_cast<double>(
                       heap::usage_of(heap::kind::node, heap::residency::left_out).bytes) /
                   entries,
          .guides =
              static_cast<double>(guides::registered_slots() * sizeof(guides::slot_word)) / entries,
          .soda = static_cast<double>(guides::soda_bytes()) / entries};
}

}  // namespace

base::result<bench_result> run_local(const bench_plan& plan) {
  const bool managed = plan.asked.manage != "off";
  if (managed) {
    if (auto heaps = configure_heaps(plan.asked); !heaps) return std::unexpected(heaps.error());
  }
  const auto index = make_lasting(
      plan.asked.index, managed ? index::management::on : index::management::off, plan.asked.keys);
  if (!index) return std::unexpected(index.error());
  if (plan.load.workload.shares.scan > 0 && !(*index)->is_ordered()) {
    return std::unexpected(base::error{
        fmt::format("workload e scans: choose an ordered index instead of {} (--index art)",
                    plan.asked.index)});
  }
  announce(plan);
  index_target store(**index, plan.format, plan.load.seed);
  const auto load_seconds = load_with_progress(store, plan);
  if (!load_seconds) return std::unexpected(load_seconds.error());
  std::optional<entry_cost> per_entry;
  if (managed) per_entry = cost_of(**index);
  window_recorder windows(plan);
  auto driven = managed ? drive_managed(store, plan, windows)
                        : drive_unmanaged(store, **index, plan, windows);
  if (!driven) return std::unexpected(driven.error());
  auto samples = windows.take();
  auto bounds = find_bounds(plan, *driven, samples);
  const auto point = point_of(plan, samples.back());
  return bench_result{.driven = std::move(*driven),
                      .windows = std::move(samples),
                      .index = std::string((*index)->name()),
                      .manage = plan.asked.manage,
                      .load_seconds = *load_seconds,
                      .bounds = std::move(bounds),
                      .point = point,
                      .per_entry = per_entry};
}

}  // namespace isotherm::lab
