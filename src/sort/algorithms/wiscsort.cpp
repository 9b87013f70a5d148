#include "sort/algorithms/wiscsort.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/buffer.hpp"
#include "sort/loader.hpp"
#include "sort/output.hpp"
#include "sort/runs.hpp"

namespace isotherm::sort {
namespace {

/// Passes sorted entries on, without those that --unique and --top leave out.
class selection {
 public:
  selection(job& j, const source& in, const record_layout& layout, output& out)
      : layout_(layout), view_(j, in), out_(out), unique_(j.options.unique), top_(j.options.top) {}

  void take(std::span<entry> entries) {
    if (unique_) entries = entries.first(distinct(entries));
    if (top_ != 0) entries = entries.first(std::min(entries.size(), top_ - out_.records()));
    out_.emit(entries);
  }
  bool full() const noexcept { return top_ != 0 && out_.records() >= top_; }

 private:
  std::size_t distinct(std::span<entry> entries) {
    std::size_t kept = 0;
    for (const entry e : entries) {
      if (any_ && layout_.same_key(last_, e, view_)) continue;
      entries[kept++] = last_ = e;
      any_ = true;
    }
    return kept;
  }

  const record_layout& layout_;
  source_view view_;
  output& out_;
  bool unique_;
  std::uint64_t top_;
  entry last_ = 0;
  bool any_ = false;
};

void sort_run(job& j, const plan& p, const source& in, const record_layout& layout,
              std::span<entry> entries) {
  const stage_timer timer(j, sort_stage::run_sort);
  sort_entries(entries, j.readers, p.sort_threads);
  // Each thread refines the groups of equal keys that begin in its part.
  const auto& l = layout.entries();
  const auto aligned = [&](std::uint64_t i) {
    while (i > 0 && i < entries.size() && l.key(entries[i]) == l.key(entries[i - 1])) ++i;
    return i;
  };
  std::vector<std::uint64_t> bounds;
  for (unsigned t = 0; t <= p.sort_threads; ++t) {
    bounds.push_back(aligned(entries.size() * t / p.sort_threads));
  }
  j.readers.run(p.sort_threads, [&](unsigned t) {
    if (bounds[t] >= bounds[t + 1]) return;
    source_view view(j, in);
    layout.refine(entries.subspan(bounds[t], bounds[t + 1] - bounds[t]), view);
  });
}

void finish(outcome& o, output& out) {
  out.finish();
  o.records_written = out.records();
  o.bytes_written = out.bytes();
}

}  // namespace

outcome sort_by_index(job& j, const plan& p, const source& in, const device::file& out_file,
                      const std::string& temporary_directory) {
  outcome o;
  o.algorithm = p.algorithm;
  const record_layout layout(j.options);
  if (layout.fixed() && !j.options.unique && j.options.top == 0 &&
      already_sorted(j, p, in, layout)) {
    copy_input(j, p, in, out_file);
    o.records = o.records_written = in.size() / layout.record_bytes();
    o.bytes_written = in.size();
    return o;
  }
  auto memory = device::buffer::reserve(p.index_entries * sizeof(entry));
  run_file runs(j, p, layout);
  if (!j.keep(memory) || j.stopped()) return o;
  loader load(j, p, in, layout);
  std::span<entry> index = memory->as<entry>();
  while (!j.stopped()) {
    const std::size_t n = load.load(index);
    if (j.stopped()) return o;
    const bool whole = load.at_end() && runs.runs().empty();
    if (!whole && !p.may_merge) {
      j.fail({fmt::format("the index map does not fit in --memory {}: give more, or take "
                          "--algorithm mergepass",
                          p.memory_bytes),
              0});
      return o;
    }
    sort_run(j, p, in, layout, index.first(n));
    if (whole && !p.must_merge) {
      if (p.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::onepass;
      output out(j, p, in, layout, out_file, sort_stage::run_write);
      if (!out.reserve()) return o;
      selection(j, in, layout, out).take(index.first(n));
      finish(o, out);
      o.records = load.records();
      return o;
    }
    if (runs.runs().empty() && !runs.create(temporary_directory)) return o;
    if (n > 0) runs.append(index.first(n));
    if (load.at_end()) break;
  }
  if (p.algorithm == sort_algorithm::automatic) o.algorithm = sort_algorithm::mergepass;
  o.records = load.records();
  const std::size_t bytes = p.merge_buffer_bytes / 16 * 16;
  const std::span<std::byte> buffer(memory->data(), std::min(bytes, memory->size()));
  runs.reduce(buffer, in);
  output out(j, p, in, layout, out_file, sort_stage::merge_write);
  auto queue = device::buffer::reserve(p.queue_entries * sizeof(entry));
  if (j.stopped() || !out.reserve() || !j.keep(queue)) return o;
  selection chosen(j, in, layout, out);
  runs.merge(buffer, in, queue->as<entry>().first(p.queue_entries), [&](std::span<entry> sorted) {
    if (!chosen.full()) chosen.take(sorted);
  });
  finish(o, out);
  o.runs = runs.written();
  return o;
}

}  // namespace isotherm::sort
