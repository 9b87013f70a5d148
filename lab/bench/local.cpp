// In process: heaps, index and collector are this process's own. A run with --manage off makes no
// heap, and its index holds plain pointers.
#include <fmt/format.h>

#include <algorithm>

#include "guide/object.hpp"
#include "guide/soda.hpp"
#include "heap/usage.hpp"
#include "index/index.hpp"
#include "lab/bench/in_process.hpp"
#include "lab/bench/index_target.hpp"
#include "lab/bench/run.hpp"
#include "lab/bench/windows.hpp"

namespace isotherm::lab {
namespace {

entry_cost cost_of(const index::any_index& index) {
  const auto entries = static_cast<double>(std::max<std::size_t>(index.size(), 1));
  return {.nodes = static_cast<double>(
                       heap::usage_of(heap::kind::node, heap::residency::left_out).bytes) /
                   entries,
          .guides =
              static_cast<double>(guides::registered_slots() * sizeof(guides::slot_word)) / entries,
          .soda = static_cast<double>(guides::soda_bytes()) / entries};
}

base::result<workload::outcome> drive(index_target& store, index::any_index& index,
                                      const bench_plan& plan, window_recorder& windows) {
  const drive_function run = [&](const workload::watcher& watch) {
    return workload::run(store, plan.load, windows.counts(), windows.used(), watch);
  };
  if (plan.asked.manage != "off") return drive_managed(run, plan, windows);
  const auto utilization = [&] {
    return utilization_by_walk(index, [&](std::string_view, std::string_view value) {
      const auto number = workload::number_of(value);
      return number && windows.used().is_current(*number);
    });
  };
  const auto left = [&](const workload::progress& now) { return seconds_left(plan, now); };
  return drive_unmanaged(run, left, utilization, plan, windows);
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
  auto driven = drive(store, **index, plan, windows);
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
                      .per_entry = per_entry,
                      .nodes = sample_nodes(**index, plan)};
}

}  // namespace isotherm::lab
