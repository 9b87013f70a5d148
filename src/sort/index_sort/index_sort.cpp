#include "sort/index_sort/index_sort.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "sort/index_sort/parts.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/index_sort/presorted_variable.hpp"
#include "sort/index_sort/refine.hpp"
#include "sort/input/records.hpp"
#include "sort/merge/record_runs.hpp"
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

/// Runs of records and a whole sort's only run have each key once, if so wanted. Runs of entries
/// have all for --count, as an entry has no room for a count.
equal_keys equal_keys_of(const context& ctx, bool counts) {
  if (ctx.job.options.unique) return equal_keys::removed;
  return ctx.job.options.count && counts ? equal_keys::dropped : equal_keys::stay;
}

/// Merges runs of entries, and writes their records to `out_file`.
void merge_entries(const context& ctx, run_file& runs, const os::file& out_file, outcome& o) {
  auto memory = os::buffer::reserve(ctx.plan.merge_buffer_bytes / 16 * 16);
  if (ctx.job.stopped() || !ctx.job.keep(memory)) return;
  const std::span<std::byte> buffer(memory->data(), memory->size());
  runs.reduce(buffer);
  const auto out = make_sink(ctx, out_file, sort_stage::merge_write, o.records);
  auto queue = os::buffer::reserve(ctx.plan.queue_entries * sizeof(entry));
  if (ctx.job.stopped() || !out->reserve() || !ctx.job.keep(queue)) return;
  runs.merge(buffer, queue->as<entry>().first(ctx.plan.queue_entries),
             [&](std::span<entry> sorted) {
               if (!out->full()) out->take(sorted);
             });
  out->finish(o);
  o.runs = runs.totals();
  o.places = runs.places().report();
}

}  // namespace

outcome sort_by_index(const context& ctx, const os::file& out_file) {
  outcome o;
  o.algorithm = ctx.plan.algorithm;
  if (ctx.job.options.writes_all()) {
    const auto copy = ctx.layout.fixed() ? copy_presorted : copy_presorted_variable;
    if (copy(ctx, out_file, o)) return o;
  }
  if (ctx.plan.part_records != 0) {
    sort_in_parts(ctx, out_file, o);
    return o;
  }
  if (ctx.plan.selection_threads != 0 && select_top(ctx, out_file, o)) return o;
  o.values = how_values_come(ctx);
  auto memory = os::buffer::reserve(ctx.plan.index_entries * sizeof(entry));
  run_file runs(ctx);
  if (!ctx.job.keep(memory) || ctx.job.stopped()) return o;
  loader load(ctx);
  record_runs pieces(ctx);
  std::span<entry> index = memory->as<entry>();
  while (!ctx.job.stopped()) {
    const std::size_t loaded = load.load(index, pieces.hold(load.at()));
    if (ctx.job.stopped()) return o;
    const bool whole = load.at_end() && runs.runs().empty() && pieces.empty();
    if (!whole && !ctx.plan.way.may_merge) {
      ctx.job.fail({fmt::format("the index map does not fit in --memory {}: give more, or take "
                                "--algorithm mergepass",
                                ctx.plan.memory_bytes),
                    0});
      return o;
    }
    const bool to_runs = !whole || ctx.plan.way.must_merge;
    const std::size_t n =
        sort_run(ctx, index.first(loaded), equal_keys_of(ctx, !to_runs || pieces.planned()));
    if (!to_runs) {
      if (ctx.plan.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::onepass;
      if (ctx.plan.scan_gather) o.algorithm = sort_algorithm::modified_key;
      const auto out = make_sink(ctx, out_file, sort_stage::run_write, n);
      if (!out->reserve()) return o;
      out->take(index.first(n));
      out->finish(o);
      o.records = load.records();
      return o;
    }
    if (pieces.planned()) {
      pieces.append(index.first(n));
    } else if (n > 0) {
      runs.append(index.first(n));
    }
    if (load.at_end()) break;
  }
  if (ctx.plan.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::mergepass;
  o.records = load.records();
  *memory = os::buffer();  // its memory is for the merge and the output now
  if (pieces.planned()) {
    o.values = "with their keys";
    pieces.merge(out_file, o);
    return o;
  }
  merge_entries(ctx, runs, out_file, o);
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
  const bool many_runs = records > p.index_entries || (p.piece_bytes != 0 && input > p.piece_bytes);
  if (!p.way.must_merge && !(p.way.may_merge && many_runs)) return 0;
  std::uint64_t frame = framed_format::kHeadBytes + (o.count ? sizeof(std::uint64_t) : 0);
  const record_layout layout(o);
  if (o.format == record_format::lines && layout.order().made()) {
    const std::uint64_t line = input / std::max<std::uint64_t>(1, records);
    frame += framed_format::kHeadBytes + layout.order().most_made_bytes(line);
  }
  const std::uint64_t bytes = p.piece_bytes != 0 ? input + frame * (records + 1)
                                                 : records * layout.entries().packed_bytes();
  const bool compressed = o.compression == sort_compression::on;
  return bytes + (many_runs || compressed ? bytes / kLostIn : 0) +
         (compressed ? kRunAlignment * p.write_threads * (1 + records / p.index_entries) : 0);
}

}  // namespace isotherm::sort
