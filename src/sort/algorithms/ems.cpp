// External merge sort with the same I/O layer, pools and concurrency models as WiscSort, so that a
// comparison shows what is moved, not how (WiscSort 4: the concurrent baseline).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/input/in_memory.hpp"
#include "sort/input/sort_entries.hpp"
#include "sort/merge/record_merge.hpp"

namespace isotherm::sort {
namespace {

class merger {
 public:
  explicit merger(const context& ctx)
      : ctx_(ctx), format_(ctx), record_(ctx.layout.record_bytes()), all_(ctx) {}

  void make_runs(std::span<std::byte> memory);
  /// Merges all runs into `out`, on several levels if one merge cannot take them all.
  void merge(const os::file& out, std::span<std::byte> memory);
  const run_files& runs() const noexcept { return all_; }

 private:
  void sort_chunk(std::span<std::byte> records, std::span<entry> index);
  void copy_some(std::span<const std::byte> records, std::span<const entry> index,
                 std::byte* target);
  void copy_chunk(std::span<const std::byte> records, std::span<const entry> index,
                  record_writer& to);
  void merge_some(record_writer& to, std::span<const record_run> some, std::span<std::byte> memory,
                  overlap how, after_reading space);

  const context ctx_;
  const fixed_format format_;
  const std::uint64_t record_;
  run_files all_;
};

void merger::sort_chunk(std::span<std::byte> records, std::span<entry> index) {
  {
    const stage_timer timer(ctx_.job, sort_stage::run_other);
    ctx_.job.readers.run(ctx_.plan.sort_threads, [&](unsigned t) {
      const auto [begin, end] = os::part_of(index.size(), ctx_.plan.sort_threads, t);
      take_keys(ctx_.layout, records, index, begin, end);
    });
  }
  const stage_timer timer(ctx_.job, sort_stage::run_sort);
  sort_entries(index, ctx_.job.readers, ctx_.plan.sort_threads);
  tell_apart(ctx_.layout, records, index);
}

void merger::copy_some(std::span<const std::byte> records, std::span<const entry> index,
                       std::byte* target) {
  const stage_timer timer(ctx_.job, sort_stage::run_other);
  ctx_.job.readers.run(ctx_.plan.sort_threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(index.size(), ctx_.plan.sort_threads, t);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t from = ctx_.layout.entries().pointer(index[i]);
      std::memcpy(target + i * record_, &records[from * record_], record_);
    }
  });
}

void merger::copy_chunk(std::span<const std::byte> records, std::span<const entry> index,
                        record_writer& to) {
  while (!index.empty() && !ctx_.job.stopped()) {
    const std::size_t n = std::min<std::size_t>(index.size(), to.room().size() / record_);
    copy_some(records, index.first(n), to.room().data());
    to.taken(n * record_);
    index = index.subspan(n);
    if (!index.empty()) to.flush();
  }
}

void merger::make_runs(std::span<std::byte> memory) {
  const std::uint64_t records = ctx_.input.size() / record_;
  const std::size_t capacity = memory.size() / (record_ + sizeof(entry));
  run_place* place = all_.places.take(std::min<std::uint64_t>(capacity, records) * record_);
  if (place == nullptr) return;
  record_writer to(ctx_, *place, overlap_with_runs(ctx_), sort_stage::run_write,
                   sort_stage::run_write);
  if (!to.reserve()) return;
  const std::span<entry> index(reinterpret_cast<entry*>(memory.data()), capacity);
  const std::span<std::byte> chunk = memory.subspan(capacity * sizeof(entry), capacity * record_);
  for (std::uint64_t at = 0; at < records && !ctx_.job.stopped(); at += capacity) {
    const std::size_t n = std::min<std::uint64_t>(capacity, records - at);
    {
      const stage_timer timer(ctx_.job, sort_stage::run_read);
      pooled_read(ctx_, chunk.first(n * record_), at * record_, sort_stage::run_read);
    }
    ctx_.job.progress(sort_stage::run_read, (at + n) * record_, ctx_.input.size());
    if (at > 0) place = all_.places.take(n * record_);
    if (ctx_.job.stopped()) return;
    to.go_to(*place);
    sort_chunk(chunk, index.first(n));
    copy_chunk(chunk, index.first(n), to);
    all_.runs.push_back(all_.add(*place, n * record_));
  }
  to.finish();
}

void merger::merge_some(record_writer& to, std::span<const record_run> some,
                        std::span<std::byte> memory, overlap how, after_reading space) {
  merge_records(ctx_, format_, some, memory, how, space, [&](const run_record& r, bool) {
    std::memcpy(to.place(record_), r.bytes.data(), record_);
    return true;
  });
}

void merger::merge(const os::file& out, std::span<std::byte> memory) {
  reduce_runs(ctx_, all_, fan_in_of(ctx_, format_, memory),
              [&](record_writer& to, std::span<const record_run> some) {
                merge_some(to, some, memory, overlap_of(ctx_), after_reading::give_back);
              });
  record_writer to(ctx_, out, sort_stage::merge_write, sort_stage::merge_other);
  if (ctx_.job.stopped() || !to.reserve()) return;
  merge_some(to, all_.runs, memory, overlap_with_runs(ctx_), after_reading::keep);
  to.finish();
}

outcome merge_sort(const context& ctx, const os::file& out) {
  outcome o;
  o.algorithm = sort_algorithm::ems;
  o.records = o.records_written = ctx.input.size() / ctx.layout.record_bytes();
  o.bytes_written = ctx.input.size();
  if (o.records == 0) return o;
  // The papers' algorithm, which the user names, does not look for order in the input.
  const bool looks = ctx.job.options.algorithm == sort_algorithm::automatic;
  if (looks && copy_presorted(ctx, out, o)) return o;
  const std::uint64_t spare = ctx.plan.output_buffer_bytes;  // the writer always has two buffers
  const std::uint64_t one_chunk = o.records * (ctx.layout.record_bytes() + sizeof(entry)) + 4096;
  auto memory = os::buffer::reserve(
      std::min<std::uint64_t>(ctx.plan.merge_buffer_bytes - spare,
                              std::max(one_chunk, least_merge_bytes(fixed_format(ctx)))));
  if (!ctx.job.keep(memory)) return o;
  const std::span<std::byte> bytes(memory->data(), memory->size());
  merger m(ctx);
  m.make_runs(bytes);
  if (!ctx.job.stopped()) m.merge(out, bytes);
  o.runs.runs = m.runs().written;
  o.places = m.runs().places.report();
  return o;
}

std::string no_obstacle(const plan&, double) { return ""; }

double levels(double runs, double fan_in) {
  return runs <= 1 ? 1 : std::max(1.0, std::ceil(std::log(runs) / std::log(std::max(2.0, fan_in))));
}

/// A merge with io-overlap reads while its output is written. The run phase does not read while it
/// writes, except the last buffer of each run, which is neglected.
prediction predict_merge_sort(const plan& p, const sort_options&, const facts& known) {
  const input_facts& in = known.input;
  const processor_speed& cpu = known.processor;
  cost sum(*known.device, p, cpu);
  const double bytes = static_cast<double>(in.bytes);
  const double records = bytes / in.record_bytes;
  const double memory = static_cast<double>(p.merge_buffer_bytes - p.output_buffer_bytes);
  const double runs = std::ceil(bytes * (1 + sizeof(entry) / in.record_bytes) / memory);
  const double passes = levels(runs, memory / (64 << 10));
  const double copied = (cpu.sort_ns + cpu.merge_record_ns) / p.sort_threads;
  sum.seconds(records * (copied + passes * cpu.merge_record_ns) * 1e-9);
  sum.sequential(bytes);
  runs_cost on = cost_of_runs(p, known.device, bytes);
  if (std::ranges::any_of(p.runs, &run_directory::apart)) {
    const double before = sum.total();
    sum.written(bytes);
    const double beside = p.runs_apart ? std::min(on.seconds.read, sum.total() - before) : 0;
    sum.seconds(passes * (on.seconds.write + on.seconds.read) - beside);
  } else {
    const bool overlaps = p.concurrency == sort_concurrency::io_overlap;
    sum.sequential(passes * bytes, overlaps ? p.write_threads : 0);
    sum.written((1 + passes) * bytes);
  }
  return {sum.total(), "", std::move(on.places)};
}

/// Merges of several levels give back what they have read, except parts of blocks.
std::uint64_t run_bytes(const plan& p, const sort_options&, std::uint64_t input_bytes,
                        std::uint64_t) {
  constexpr std::uint64_t kLostIn = 64;  // the lost space is one part in so many
  const bool one_run = input_bytes <= p.merge_buffer_bytes / 2;
  return input_bytes + (one_run ? 0 : input_bytes / kLostIn);
}

}  // namespace

extern const algorithm kEms;
constinit const algorithm kEms = {.id = sort_algorithm::ems,
                                  .name = "ems",
                                  .candidate = true,
                                  .check = take_whole_fixed_records,
                                  .way = {.record_runs = true},
                                  .obstacle = no_obstacle,
                                  .predict = predict_merge_sort,
                                  .temporary_bytes = run_bytes,
                                  .run = merge_sort};

}  // namespace isotherm::sort
