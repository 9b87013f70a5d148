#include "lab/bench/in_process.hpp"

#include "collector/collector.hpp"
#include "heap/configure.hpp"
#include "heap/usage.hpp"
#include "lab/bench/usage_map.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::lab {
namespace {

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

}  // namespace

base::result<void> configure_heaps(const bench_options& asked) {
  const auto backing = heap::cold_backing::parse(asked.cold_backing);
  if (!backing) return std::unexpected(backing.error());
  heap::options chosen;
  chosen.cold = *backing;
  chosen.huge_pages = asked.huge_pages;
  return heap::configure(chosen);
}

double utilization_by_walk(
    index::any_index& index,
    const std::function<bool(std::string_view key, std::string_view value)>& is_used) {
  usage_map map;
  const auto add = [&](std::string_view object) {
    map.add(reinterpret_cast<std::uintptr_t>(object.data()), object.size(), use::used);
  };
  std::uint64_t cursor = 0;
  do {
    access inside;
    cursor = index.walk(inside, cursor, [&](const auto& key, const auto& value) {
      if (!key || !value || !is_used(*key, *value)) return true;
      add(*key);
      add(*value);
      return true;
    });
  } while (cursor != 0);
  return map.utilization();
}

base::result<workload::outcome> drive_unmanaged(const drive_function& drive, const time_left& left,
                                                const std::function<double()>& utilization,
                                                const bench_plan& plan, window_recorder& windows) {
  auto driven = drive([&](const workload::progress& now) {
    windows.watch(now);
    // The last window ends with the run, so that it is never a splinter.
    if (windows.window_age() >= plan.asked.collector.window_seconds &&
        left(now) > plan.asked.collector.window_seconds / 2) {
      windows.end_window(unmanaged_sample());
    }
    return true;
  });
  if (!driven) return driven;
  window_sample last = unmanaged_sample();
  last.page_utilization = utilization();
  windows.end_window(last);
  return driven;
}

base::result<workload::outcome> drive_managed(const drive_function& drive, const bench_plan& plan,
                                              window_recorder& windows) {
  collector::object_collector collector(plan.asked.collector);
  collector.on_window([&](const auto& seen) { windows.end_window(sample_of(seen)); });
  if (auto started = collector.start(); !started) return std::unexpected(started.error());
  auto driven = drive([&](const workload::progress& now) {
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

}  // namespace isotherm::lab
