#include "lab/bench/in_process.hpp"

#include <algorithm>

#include "base/page.hpp"
#include "base/random.hpp"
#include "collector/collector.hpp"
#include "heap/configure.hpp"
#include "heap/usage.hpp"
#include "lab/bench/usage_map.hpp"
#include "lab/workload/record.hpp"
#include "os/memory/numa.hpp"
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

/// Returns the memory nodes of the values of records, of which `draw` gives the numbers; negative
/// ones for values that are in no memory.
template <class Draw>
std::vector<int> nodes_of_values(index::any_index& index, const bench_plan& plan, Draw draw,
                                 std::size_t count) {
  workload::record_buffer buffer(plan.format, plan.load.seed);
  std::vector<void*> pages;
  for (std::size_t i = 0; i < count; ++i) {
    access inside;
    const auto value = index.find(inside, buffer.key(draw()));
    if (!value) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(value->data());
    pages.push_back(reinterpret_cast<void*>(address / base::kPageBytes * base::kPageBytes));
  }
  std::vector<int> nodes(pages.size());
  if (!os::find_nodes(pages, nodes)) nodes.clear();
  return nodes;
}

}  // namespace

base::result<void> configure_heaps(const bench_options& asked) {
  const auto backing = heap::cold_backing::parse(asked.cold_backing);
  if (!backing) return std::unexpected(backing.error());
  heap::options chosen;
  chosen.cold = *backing;
  chosen.hot_node = asked.hot_node;
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

std::vector<node_shares> sample_nodes(index::any_index& index, const bench_plan& plan) {
  constexpr std::size_t kSample = 1 << 16;
  const workload::key_chooser chooser(plan.load.keys_by, plan.load.keys);
  base::random random(~plan.load.seed);
  std::vector<node_shares> found;
  const auto add = [&](auto draw, double node_shares::* share) {
    const std::vector<int> nodes = nodes_of_values(index, plan, draw, kSample);
    for (const int node : nodes) {
      if (node < 0) continue;
      found.resize(std::max(found.size(), static_cast<std::size_t>(node) + 1));
      found[static_cast<std::size_t>(node)].*share += 1.0 / static_cast<double>(nodes.size());
    }
  };
  add([&] { return random.below(plan.load.keys); }, &node_shares::records);
  add(
      [&] {
        const std::uint64_t key = chooser(random);
        return chooser.draws_ages() ? plan.load.keys - 1 - key : key;
      },
      &node_shares::accesses);
  return found;
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
