// External merge sort with the same I/O layer, pools and concurrency models as WiscSort, so that a
// comparison shows what is moved, not how (WiscSort 4: the concurrent baseline).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread.hpp"
#include "os/thread_pool.hpp"
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/input/in_memory.hpp"
#include "sort/input/sort_entries.hpp"
#include "sort/runs/loader.hpp"
#include "sort/runs/loser_tree.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {
namespace {

/// Collects whole records in a buffer and writes them sequentially; with io-overlap one buffer is
/// written while the next is filled.
class record_writer {
 public:
  record_writer(const context& ctx, const os::file& f, sort_stage stage)
      : ctx_(ctx), file_(f), stage_(stage) {}
  bool reserve() {
    for (auto& b : buffers_) {
      auto r = os::buffer::reserve(ctx_.plan.output_buffer_bytes);
      if (!ctx_.job.keep(r)) return false;
      b = std::move(*r);
    }
    return true;
  }
  /// Space for the next `bytes` of output, which the caller fills.
  std::byte* place(std::size_t bytes) {
    if (filled_ + bytes > ctx_.plan.output_buffer_bytes) flush();
    std::byte* at = buffers_[turn_].data() + filled_;
    filled_ += bytes;
    return at;
  }
  /// The free rest of the buffer. Threads may fill it together; taken() then tells how much.
  std::span<std::byte> room() {
    return {buffers_[turn_].data() + filled_, ctx_.plan.output_buffer_bytes - filled_};
  }
  void taken(std::size_t bytes) { filled_ += bytes; }
  void flush() {
    const std::span<const std::byte> bytes(buffers_[turn_].data(), filled_);
    const auto write = [this, bytes, offset = offset_] {
      const stage_timer timer(ctx_.job, stage_);
      pooled_write(ctx_, file_, bytes, offset, stage_);
    };
    if (writing_.joinable()) writing_.join();
    if (ctx_.plan.concurrency == sort_concurrency::io_overlap) {
      ctx_.job.beside(writing_, write);
      turn_ ^= 1;
    } else {
      write();
    }
    offset_ += filled_;
    filled_ = 0;
  }
  void finish() {
    flush();
    if (writing_.joinable()) writing_.join();
  }
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  const context ctx_;
  const os::file& file_;
  sort_stage stage_;
  os::buffer buffers_[2];
  unsigned turn_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t offset_ = 0;
  os::thread writing_;
};

/// A sorted piece of the records in the run file.
struct record_run {
  std::uint64_t offset = 0;
  std::uint64_t records = 0;
};

/// A run being merged: a window of its records.
struct record_cursor {
  std::uint64_t offset;
  std::uint64_t left;  // records not yet read
  std::span<std::byte> buffer;
  std::size_t at = 0;
  std::size_t end = 0;
  bool exhausted = false;
  std::uint64_t first = 0;  // where the run begins
};

class merger {
 public:
  merger(const context& ctx, const os::file& out)
      : ctx_(ctx), out_(out), record_(ctx.layout.record_bytes()) {}

  void make_runs(const std::string& directory, std::span<std::byte> memory);
  /// Merges all runs once: into the output if one merge takes them all, otherwise into fewer runs.
  /// True when the output is complete, or after an error.
  bool merge_level(std::span<std::byte> memory, const std::string& directory);
  std::uint64_t runs_written() const noexcept { return written_; }

 private:
  void sort_chunk(std::span<std::byte> records, std::span<entry> index);
  void copy_some(std::span<const std::byte> records, std::span<const entry> index,
                 std::byte* target);
  void copy_chunk(std::span<const std::byte> records, std::span<const entry> index,
                  record_writer& to);
  void merge_group(std::span<const record_run> group, std::span<std::byte> memory,
                   record_writer& to, after_reading space);
  void advance(record_cursor& c, after_reading space);

  const context ctx_;
  const os::file& out_;
  const std::uint64_t record_;
  os::file runs_file_;
  std::vector<record_run> runs_;
  std::uint64_t written_ = 0;
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

void merger::make_runs(const std::string& directory, std::span<std::byte> memory) {
  auto f = os::file::unnamed(directory);
  if (!ctx_.job.keep(f)) return;
  runs_file_ = std::move(*f);
  record_writer to(ctx_, runs_file_, sort_stage::run_write);
  if (!to.reserve()) return;
  const std::uint64_t records = ctx_.input.size() / record_;
  const std::size_t capacity = memory.size() / (record_ + sizeof(entry));
  const std::span<entry> index(reinterpret_cast<entry*>(memory.data()), capacity);
  const std::span<std::byte> chunk = memory.subspan(capacity * sizeof(entry), capacity * record_);
  for (std::uint64_t at = 0; at < records && !ctx_.job.stopped(); at += capacity) {
    const std::size_t n = std::min<std::uint64_t>(capacity, records - at);
    {
      const stage_timer timer(ctx_.job, sort_stage::run_read);
      pooled_read(ctx_, ctx_.input.handle(), chunk.first(n * record_), at * record_,
                  sort_stage::run_read);
    }
    ctx_.job.progress(sort_stage::run_read, (at + n) * record_, ctx_.input.size());
    if (ctx_.job.stopped()) return;
    sort_chunk(chunk, index.first(n));
    copy_chunk(chunk, index.first(n), to);
    runs_.push_back({at * record_, n});
    ++written_;
  }
  to.finish();
}

void merger::advance(record_cursor& c, after_reading space) {
  c.at += record_;
  if (c.at < c.end) return;
  const std::size_t n = std::min<std::uint64_t>(c.left, c.buffer.size() / record_);
  if (n == 0 || ctx_.job.stopped()) {
    c.exhausted = true;
    return;
  }
  const stage_timer timer(ctx_.job, sort_stage::merge_read, sort_stage::merge_other);
  pooled_read(ctx_, runs_file_, c.buffer.first(n * record_), c.offset, sort_stage::merge_read);
  if (space == after_reading::give_back) {
    give_back(ctx_.job, runs_file_, c.first, c.offset, c.offset + n * record_);
  }
  c.offset += n * record_;
  c.left -= n;
  c.at = 0;
  c.end = n * record_;
}

void merger::merge_group(std::span<const record_run> group, std::span<std::byte> memory,
                         record_writer& to, after_reading space) {
  const std::size_t share = memory.size() / group.size() / record_ * record_;
  std::vector<record_cursor> cursors;
  std::optional<stage_timer> filling(std::in_place, ctx_.job, sort_stage::merge_other);
  for (std::size_t i = 0; i < group.size(); ++i) {
    cursors.push_back({group[i].offset, group[i].records, memory.subspan(i * share, share)});
    cursors.back().first = group[i].offset;
    advance(cursors.back(), space);
  }
  filling.reset();
  loser_tree tree(cursors.size(), [&](std::size_t a, std::size_t b) {
    if (cursors[a].exhausted) return false;
    if (cursors[b].exhausted) return true;
    const int o = compare_records(ctx_.layout, &cursors[a].buffer[cursors[a].at],
                                  &cursors[b].buffer[cursors[b].at]);
    return o != 0 ? o < 0 : a < b;  // runs are in input order: stable
  });
  while (!cursors[tree.winner()].exhausted && !ctx_.job.stopped()) {
    {
      const stage_timer timer(ctx_.job, sort_stage::merge_other);
      for (std::size_t room = to.room().size(); room >= record_; room -= record_) {
        record_cursor& c = cursors[tree.winner()];
        if (c.exhausted) break;
        std::memcpy(to.place(record_), &c.buffer[c.at], record_);
        advance(c, space);
        tree.replay();
      }
    }
    if (to.room().size() < record_) to.flush();
    ctx_.job.progress(sort_stage::merge_write, to.offset(), ctx_.input.size());
  }
}

bool merger::merge_level(std::span<std::byte> memory, const std::string& directory) {
  const std::size_t least = std::max<std::size_t>(64 << 10, record_);
  const std::size_t fan_in = std::max<std::size_t>(2, memory.size() / least);
  const bool last = runs_.size() <= fan_in;
  std::optional<os::file> next;
  if (!last) {
    auto f = os::file::unnamed(directory);
    if (!ctx_.job.keep(f)) return true;
    next = std::move(*f);
  }
  record_writer to(ctx_, last ? out_ : *next, sort_stage::merge_write);
  if (!to.reserve()) return true;
  std::vector<record_run> merged;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < runs_.size() && !ctx_.job.stopped(); i += fan_in) {
    const std::span<const record_run> group(&runs_[i], std::min(fan_in, runs_.size() - i));
    merge_group(group, memory, to, last ? after_reading::keep : after_reading::give_back);
    std::uint64_t records = 0;
    for (const record_run& r : group) records += r.records;
    merged.push_back({offset, records});
    offset += records * record_;
  }
  to.finish();
  ctx_.job.progress(sort_stage::merge_write, to.offset(), ctx_.input.size());
  if (last) return true;
  written_ += merged.size();
  runs_ = std::move(merged);
  runs_file_ = std::move(*next);
  return false;
}

outcome merge_sort(const context& ctx, const os::file& out,
                   const std::string& temporary_directory) {
  outcome o;
  o.algorithm = sort_algorithm::ems;
  o.records = o.records_written = ctx.input.size() / ctx.layout.record_bytes();
  o.bytes_written = ctx.input.size();
  if (o.records == 0) return o;
  // The papers' algorithm, which the user names, does not look for order in the input.
  const bool looks = ctx.job.options.algorithm == sort_algorithm::automatic;
  if (looks && copy_presorted(ctx, out, o)) return o;
  const std::uint64_t spare = ctx.plan.output_buffer_bytes;  // the writer always has two buffers
  auto memory = os::buffer::reserve(
      std::min<std::uint64_t>(ctx.plan.merge_buffer_bytes - spare,
                              o.records * (ctx.layout.record_bytes() + sizeof(entry)) + 4096));
  if (!ctx.job.keep(memory)) return o;
  const std::span<std::byte> bytes(memory->data(), memory->size());
  merger m(ctx, out);
  m.make_runs(temporary_directory, bytes);
  while (!ctx.job.stopped() && !m.merge_level(bytes, temporary_directory)) {
  }
  o.runs.runs = m.runs_written();
  return o;
}

std::string no_obstacle(const plan&, double) { return ""; }

double levels(double runs, double fan_in) {
  return runs <= 1 ? 1 : std::max(1.0, std::ceil(std::log(runs) / std::log(std::max(2.0, fan_in))));
}

/// With io-overlap, a merge reads while what it has merged is written. The run phase does not read
/// while it writes, except the last buffer of each run, which is neglected.
prediction predict_merge_sort(const plan& p, const sort_options&, const facts& known) {
  const input_facts& in = known.input;
  const processor_speed& cpu = known.processor;
  cost sum(*known.device, p, cpu);
  const double bytes = static_cast<double>(in.bytes);
  const double records = bytes / in.record_bytes;
  const double memory = static_cast<double>(p.merge_buffer_bytes - p.output_buffer_bytes);
  const double runs = std::ceil(bytes * (1 + sizeof(entry) / in.record_bytes) / memory);
  const double passes = levels(runs, memory / (64 << 10));
  const bool overlaps = p.concurrency == sort_concurrency::io_overlap;
  sum.sequential(bytes);
  sum.sequential(passes * bytes, overlaps ? p.write_threads : 0);
  sum.written((1 + passes) * bytes);
  const double copied = (cpu.sort_ns + cpu.merge_record_ns) / p.sort_threads;
  sum.processor(records * (copied + passes * cpu.merge_record_ns) * 1e-9);
  return {sum.total(), ""};
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
