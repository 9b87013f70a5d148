#include "sort/algorithms/wiscsort.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/buffer.hpp"
#include "sort/algorithms/integers.hpp"
#include "sort/algorithms/presorted.hpp"
#include "sort/algorithms/refine.hpp"
#include "sort/algorithms/regroup.hpp"
#include "sort/loader.hpp"
#include "sort/output.hpp"
#include "sort/runs/runs.hpp"
#include "sort/sinks/sink.hpp"

namespace isotherm::sort {
namespace {

std::string_view how_values_come(const plan& p, const record_layout& layout,
                                 const sort_options& o) {
  if (o.count) return "not at all";
  if (layout.keys_alone()) return "with their keys";
  return p.scan_gather ? "by scans" : "by random reads";
}

}  // namespace

outcome sort_by_index(job& j, const plan& p, source& in, const device::file& out_file,
                      const std::string& temporary_directory) {
  outcome o;
  o.algorithm = p.algorithm;
  const record_layout layout(j.options);
  if (j.options.writes_all()) {
    const auto copy = layout.fixed() ? copy_presorted : copy_presorted_variable;
    if (copy(j, p, in, layout, out_file, o)) return o;
  }
  if (p.integers) {
    sort_integers(j, p, in, layout, out_file, o);
    return o;
  }
  o.values = how_values_come(p, layout, j.options);
  auto memory = device::buffer::reserve(p.index_entries * sizeof(entry));
  run_file runs(j, p, layout);
  if (!j.keep(memory) || j.stopped()) return o;
  loader load(j, p, in, layout);
  regrouping pieces(j, p, in, layout);
  std::span<entry> index = memory->as<entry>();
  while (!j.stopped()) {
    const std::size_t loaded = load.load(index, pieces.hold(load.at()));
    if (j.stopped()) return o;
    const bool whole = load.at_end() && runs.runs().empty();
    if (!whole && !p.may_merge) {
      j.fail({fmt::format("the index map does not fit in --memory {}: give more, or take "
                          "--algorithm mergepass",
                          p.memory_bytes),
              0});
      return o;
    }
    const std::size_t n = sort_run(j, p, in, layout, index.first(loaded));
    if (whole && !p.must_merge) {
      if (p.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::onepass;
      if (p.scan_gather) o.algorithm = sort_algorithm::modified_key;
      const auto out = make_sink(j, p, in, layout, out_file, sort_stage::run_write, n);
      if (!out->reserve()) return o;
      out->take(index.first(n));
      out->finish(o);
      o.records = load.records();
      return o;
    }
    if (runs.runs().empty() && !runs.create(temporary_directory)) return o;
    pieces.write(index.first(n), temporary_directory);
    if (n > 0 && !j.stopped()) runs.append(index.first(n));
    if (load.at_end()) break;
  }
  if (p.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::mergepass;
  o.records = load.records();
  *memory = device::buffer();  // what the index map held is for the merge and its output now
  const source& from = pieces.finish();
  memory = device::buffer::reserve(p.merge_buffer_bytes / 16 * 16);
  if (j.stopped() || !j.keep(memory)) return o;
  const std::span<std::byte> buffer(memory->data(), memory->size());
  runs.reduce(buffer, from);
  const auto out = make_sink(j, p, from, layout, out_file, sort_stage::merge_write, o.records);
  auto queue = device::buffer::reserve(p.queue_entries * sizeof(entry));
  if (j.stopped() || !out->reserve() || !j.keep(queue)) return o;
  runs.merge(buffer, from, queue->as<entry>().first(p.queue_entries), [&](std::span<entry> sorted) {
    if (!out->full()) out->take(sorted);
  });
  out->finish(o);
  o.runs = runs.totals();
  return o;
}

}  // namespace isotherm::sort
