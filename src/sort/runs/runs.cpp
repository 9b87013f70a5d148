#include "sort/runs/runs.hpp"

#include <algorithm>

#include "base/page.hpp"
#include "device/stream.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/coding/codec.hpp"
#include "sort/runs/key_reads.hpp"
#include "sort/runs/loser_tree.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kSlack = 16;  // pack() writes 16 bytes
constexpr std::size_t kIoStep = 1 << 20;

constexpr std::size_t longest_block(unsigned packed_bytes) {
  return kBlockHeaderBytes + kBlockEntries * packed_bytes;
}

}  // namespace

void pooled_write(const context& ctx, const os::file& f, std::span<const std::byte> bytes,
                  std::uint64_t offset, sort_stage stage) {
  pooled_write(ctx, main_use(ctx.plan, ctx.job.emulation), f, bytes, offset, stage);
}

void pooled_write(const context& ctx, const device_use& on, const os::file& f,
                  std::span<const std::byte> bytes, std::uint64_t offset, sort_stage stage) {
  const unsigned threads = f.is_in_order() ? 1 : on.write_threads;
  const device::stream_group group(on.emulation, device::access::write, threads);
  ctx.job.writers.run(threads, [&](unsigned t) {
    device::stream stream(group);
    const auto [begin, end] = os::part_of(bytes.size(), threads, t);
    for (std::size_t at = begin; at < end && !ctx.job.stopped(); at += kIoStep) {
      const std::size_t n = std::min<std::size_t>(kIoStep, end - at);
      if (!ctx.job.keep(stream.write(f, bytes.subspan(at, n), offset + at))) return;
    }
  });
  ctx.job.count(stage, 0, bytes.size());
}

/// Returns the most bytes of a file that `r`, a run of `entries`, reaches over. Each writer of a
/// compressed run leaves a hole behind the blocks that become smaller.
std::uint64_t run_file::most_bytes(const run& r, std::uint64_t entries) const {
  const unsigned packed = ctx_.layout.entries().packed_bytes();
  if (!r.compressed) return entries * packed;
  const std::uint64_t blocks = (entries + kBlockEntries - 1) / kBlockEntries;
  unsigned writers = 1;
  for (const run_directory& d : ctx_.plan.runs) writers = std::max(writers, d.use.write_threads);
  return blocks * longest_block(packed) + (2 + writers) * base::kPageBytes;
}

/// Finds the place of a run of `entries`; false after an error.
bool run_file::place(run& r, std::uint64_t entries) {
  r.place = places_.take(most_bytes(r, entries));
  return r.place != nullptr;
}

/// The user's choice; for `automatic`, whether it pays for this run on an emulated device.
bool run_file::should_compress(std::span<const entry> sorted) {
  if (ctx_.plan.compression != sort_compression::automatic || sorted.empty()) {
    return ctx_.plan.compression == sort_compression::on;
  }
  const run_speeds& speeds = ctx_.plan.run_device;
  if (speeds.write == 0) return false;
  const auto& l = ctx_.layout.entries();
  return balance_of(l.packed_bytes(), measure_coding(l, sorted), speeds, ctx_.plan.write_threads)
      .pays();
}

void run_file::write(std::span<const entry> sorted, run& to) {
  const stage_timer timer(ctx_.job, sort_stage::run_write);
  to.compressed ? write_compressed(sorted, to) : write_packed(sorted, to);
  to.entries += sorted.size();
  totals_.bytes += sorted.size() * ctx_.layout.entries().packed_bytes();
}

void run_file::write_packed(std::span<const entry> sorted, run& to) {
  const unsigned packed = ctx_.layout.entries().packed_bytes();
  const device_use& on = to.place->at.use;
  const unsigned threads = on.write_threads;
  const std::size_t step = kThreadScratchBytes / packed;
  const std::uint64_t offset = to.place->end;
  const device::stream_group group(on.emulation, device::access::write, threads);
  ctx_.job.writers.run(threads, [&](unsigned t) {
    std::vector<std::byte> bytes(step * packed + kSlack);
    device::stream stream(group);
    const auto [begin, end] = os::part_of(sorted.size(), threads, t);
    for (std::size_t at = begin; at < end && !ctx_.job.stopped(); at += step) {
      const std::size_t n = std::min<std::size_t>(step, end - at);
      for (std::size_t i = 0; i < n; ++i) {
        pack(ctx_.layout.entries(), sorted[at + i], bytes.data() + i * packed);
      }
      const std::span<const std::byte> piece(bytes.data(), n * packed);
      if (!ctx_.job.keep(stream.write(to.place->file, piece, offset + at * packed))) return;
    }
  });
  const std::uint64_t bytes = sorted.size() * packed;
  if (!to.segments.empty() && to.segments.back().offset + to.segments.back().bytes == offset) {
    to.segments.back().bytes += bytes;
  } else {
    to.segments.push_back({offset, bytes});
  }
  to.place->end += bytes;
  to.place->written += bytes;
  totals_.bytes_written += bytes;
  ctx_.job.count(sort_stage::run_write, 0, bytes);
}

/// Writes compressed blocks. Each writer has space in the file for blocks that compression does not
/// make smaller, and leaves a hole behind those that it does.
void run_file::write_compressed(std::span<const entry> sorted, run& to) {
  const auto& l = ctx_.layout.entries();
  const std::size_t longest = longest_block(l.packed_bytes());
  const std::size_t blocks = (sorted.size() + kBlockEntries - 1) / kBlockEntries;
  const std::size_t step = std::max<std::size_t>(1, kThreadScratchBytes / longest);
  const device_use& on = to.place->at.use;
  const unsigned threads = on.write_threads;
  const auto start_of = [&](std::uint64_t block, unsigned t) {
    return to.place->end + (block * longest / base::kPageBytes + 1 + t) * base::kPageBytes;
  };
  std::vector<run_segment> parts(threads);
  const device::stream_group group(on.emulation, device::access::write, threads);
  ctx_.job.writers.run(threads, [&](unsigned t) {
    std::vector<std::byte> bytes(step * longest + kBlockSlack);
    device::stream stream(group);
    const auto [begin, end] = os::part_of(blocks, threads, t);
    parts[t].offset = start_of(begin, t);
    for (std::size_t at = begin; at < end && !ctx_.job.stopped(); at += step) {
      std::size_t filled = 0;
      for (std::size_t b = at; b < std::min<std::size_t>(end, at + step); ++b) {
        const std::size_t first = b * kBlockEntries;
        filled +=
            encode_block(l, sorted.subspan(first, std::min(kBlockEntries, sorted.size() - first)),
                         &bytes[filled]);
      }
      const std::span<const std::byte> piece(bytes.data(), filled);
      if (!ctx_.job.keep(stream.write(to.place->file, piece, parts[t].offset + parts[t].bytes)))
        return;
      parts[t].bytes += filled;
    }
  });
  to.place->end = start_of(blocks, threads);
  for (const run_segment& part : parts) {
    if (part.bytes == 0) continue;
    to.segments.push_back(part);
    to.place->written += part.bytes;
    totals_.bytes_written += part.bytes;
    ctx_.job.count(sort_stage::run_write, 0, part.bytes);
  }
}

void run_file::append(std::span<const entry> sorted) {
  run r{.place = nullptr, .segments = {}, .entries = 0, .compressed = should_compress(sorted)};
  if (!place(r, sorted.size())) return;
  write(sorted, r);
  ++totals_.runs;
  totals_.compressed += r.compressed;
  runs_.push_back(std::move(r));
}

void run_file::merge_some(std::span<const run> some, std::span<std::byte> buffer,
                          std::span<entry> piece, after_reading space, const taker& take) {
  key_reads keys(ctx_, sort_stage::merge_other);
  const std::size_t share = buffer.size() / some.size() / sizeof(entry) * sizeof(entry);
  struct cursor {
    run_reader reader;
    entry head = 0;
    bool exhausted = false;
    void advance() { exhausted = !reader.next(head); }
  };
  std::vector<cursor> cursors;
  cursors.reserve(some.size());
  {
    const stage_timer timer(ctx_.job, sort_stage::merge_other);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::span<std::byte> memory = buffer.subspan(i * share, share);
      cursors.push_back({run_reader(ctx_, some[i], memory, space)});
      cursors.back().advance();
    }
  }
  loser_tree tree(cursors.size(), [&](std::size_t a, std::size_t b) {
    if (cursors[a].exhausted) return false;
    return cursors[b].exhausted || keys.compare(cursors[a].head, cursors[b].head) < 0;
  });
  while (!ctx_.job.stopped()) {
    std::size_t n = 0;
    {
      const stage_timer timer(ctx_.job, sort_stage::merge_other);
      for (; n < piece.size() && !cursors[tree.winner()].exhausted; ++n) {
        cursor& c = cursors[tree.winner()];
        piece[n] = c.head;
        c.advance();
        tree.replay();
      }
    }
    if (n == 0 || ctx_.job.stopped()) return;
    take(piece.first(n));
  }
}

void run_file::reduce(std::span<std::byte> buffer) {
  const std::size_t fan_in = merge_fan_in(buffer.size());
  if (runs_.size() <= fan_in) return;
  auto piece_buffer = os::buffer::reserve(std::min<std::size_t>(buffer.size() / 4, 4 << 20));
  if (!ctx_.job.keep(piece_buffer)) return;
  const auto room = buffer.first(buffer.size() / 4 * 3);
  while (runs_.size() > fan_in && !ctx_.job.stopped()) {
    // The smallest runs first, and only as many as the last merge cannot take.
    std::sort(runs_.begin(), runs_.end(),
              [](const run& a, const run& b) { return a.entries < b.entries; });
    const std::size_t n = std::min(fan_in, runs_.size() - fan_in + 1);
    const auto behind = runs_.begin() + static_cast<std::ptrdiff_t>(n);
    const std::vector<run> some(runs_.begin(), behind);
    std::uint64_t entries = 0;
    for (const run& r : some) entries += r.entries;
    run merged;
    merge_some(some, room, piece_buffer->as<entry>(), after_reading::give_back,
               [&](std::span<entry> sorted) {
                 if (merged.place == nullptr) merged.compressed = should_compress(sorted);
                 if (merged.place != nullptr || place(merged, entries)) write(sorted, merged);
               });
    runs_.erase(runs_.begin(), behind);
    ++totals_.runs;
    totals_.compressed += merged.compressed;
    runs_.push_back(std::move(merged));
  }
}

void run_file::merge(std::span<std::byte> buffer, std::span<entry> piece, const taker& take) {
  if (!runs_.empty()) merge_some(runs_, buffer, piece, after_reading::keep, take);
}

}  // namespace isotherm::sort
