#include "sort/index_sort/index_sort.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "sort/index_sort/parts.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/index_sort/presorted_variable.hpp"
#include "sort/index_sort/refine.hpp"
#include "sort/index_sort/regroup.hpp"
#include "sort/input/records.hpp"
#include "sort/output/sink.hpp"
#include "sort/runs/loader.hpp"
#include "sort/runs/runs.hpp"
#include "sort/top/top.hpp"

namespace isotherm::sort {
namespace {

std::string_view how_values_come(const context& ctx) {
  if (ctx.job.options.count) return "not at all";
  if (ctx.layout.keys_alone()) return "with their keys";
  return ctx.plan.scan_gather ? "by scans" : "by random reads";
}

}  // namespace

outcome sort_by_index(const context& ctx, const os::file& out_file,
                      const std::string& temporary_directory) {
  outcome o;
  o.algorithm = ctx.plan.algorithm;
  if (ctx.job.options.writes_all()) {
    const auto copy = ctx.layout.fixed() ? copy_presorted : copy_presorted_variable;
    if (copy(ctx, out_file, o)) return o;
  }
  if (ctx.plan.part_records != 0) {
    sort_in_parts(ctx, out_file, temporary_directory, o);
    return o;
  }
  if (ctx.plan.selection_threads != 0 && select_top(ctx, out_file, o)) return o;
  o.values = how_values_come(ctx);
  auto memory = os::buffer::reserve(ctx.plan.index_entries * sizeof(entry));
  run_file runs(ctx);
  if (!ctx.job.keep(memory) || ctx.job.stopped()) return o;
  loader load(ctx);
  regrouping pieces(ctx);
  std::span<entry> index = memory->as<entry>();
  while (!ctx.job.stopped()) {
    const std::size_t loaded = load.load(index, pieces.hold(load.at()));
    if (ctx.job.stopped()) return o;
    const bool whole = load.at_end() && runs.runs().empty();
    if (!whole && !ctx.plan.way.may_merge) {
      ctx.job.fail({fmt::format("the index map does not fit in --memory {}: give more, or take "
                                "--algorithm mergepass",
                                ctx.plan.memory_bytes),
                    0});
      return o;
    }
    const std::size_t n = sort_run(ctx, index.first(loaded));
    if (whole && !ctx.plan.way.must_merge) {
      if (ctx.plan.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::onepass;
      if (ctx.plan.scan_gather) o.algorithm = sort_algorithm::modified_key;
      const auto out = make_sink(ctx, out_file, sort_stage::run_write, n);
      if (!out->reserve()) return o;
      out->take(index.first(n));
      out->finish(o);
      o.records = load.records();
      return o;
    }
    if (runs.runs().empty() && !runs.create(temporary_directory)) return o;
    pieces.write(index.first(n), temporary_directory);
    if (n > 0 && !ctx.job.stopped()) runs.append(index.first(n));
    if (load.at_end()) break;
  }
  if (ctx.plan.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::mergepass;
  o.records = load.records();
  *memory = os::buffer();  // its memory is for the merge and the output now
  source& from = pieces.finish();
  memory = os::buffer::reserve(ctx.plan.merge_buffer_bytes / 16 * 16);
  if (ctx.job.stopped() || !ctx.job.keep(memory)) return o;
  const std::span<std::byte> buffer(memory->data(), memory->size());
  runs.reduce(buffer, from);
  const auto out = make_sink(ctx.reading(from), out_file, sort_stage::merge_write, o.records);
  auto queue = os::buffer::reserve(ctx.plan.queue_entries * sizeof(entry));
  if (ctx.job.stopped() || !out->reserve() || !ctx.job.keep(queue)) return o;
  runs.merge(buffer, from, queue->as<entry>().first(ctx.plan.queue_entries),
             [&](std::span<entry> sorted) {
               if (!out->full()) out->take(sorted);
             });
  out->finish(o);
  o.runs = runs.totals();
  return o;
}

std::string index_sort_obstacle(const plan& p, double records) {
  if (p.way.may_merge || records <= static_cast<double>(p.index_entries)) return "";
  return "the index map does not fit in the memory limit";
}

std::uint64_t index_run_bytes(const plan& p, const sort_options& o, std::uint64_t input,
                              std::uint64_t records) {
  constexpr std::uint64_t kLostIn = 64;          // the lost space is one part in so many
  constexpr std::uint64_t kRunAlignment = 8192;  // of each writer's part of a compressed run
  if (p.selection_threads != 0) return 0;
  if (p.part_records != 0) return bytes_of_parts(p, input, records);
  const bool many_runs =
      records > p.index_entries || (p.regroup_bytes != 0 && input > p.regroup_bytes);
  if (!p.way.must_merge && !(p.way.may_merge && many_runs)) return 0;
  const std::uint64_t bytes = records * record_layout(o).entries().packed_bytes();
  const bool compressed = o.compression == sort_compression::on;
  return bytes + (p.regroup_bytes != 0 ? input + 1 : 0) +
         (many_runs || compressed ? bytes / kLostIn : 0) +
         (compressed ? kRunAlignment * p.write_threads * (1 + records / p.index_entries) : 0);
}

}  // namespace isotherm::sort
