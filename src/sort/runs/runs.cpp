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

}  // namespace

void pooled_write(const context& ctx, const os::file& f, std::span<const std::byte> bytes,
                  std::uint64_t offset, sort_stage stage) {
  const unsigned threads = f.is_in_order() ? 1 : ctx.plan.write_threads;
  const device::stream_group group(ctx.job.emulation, device::access::write, threads);
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

bool run_file::create(const std::string& directory) {
  auto f = os::file::unnamed(directory);
  if (!ctx_.job.keep(f)) return false;
  file_ = std::move(*f);
  return true;
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
  const unsigned threads = ctx_.plan.write_threads;
  const std::size_t step = kThreadScratchBytes / packed;
  const device::stream_group group(ctx_.job.emulation, device::access::write, threads);
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
      if (!ctx_.job.keep(stream.write(file_, piece, end_ + at * packed))) return;
    }
  });
  const std::uint64_t bytes = sorted.size() * packed;
  if (!to.segments.empty() && to.segments.back().offset + to.segments.back().bytes == end_) {
    to.segments.back().bytes += bytes;
  } else {
    to.segments.push_back({end_, bytes});
  }
  end_ += bytes;
  totals_.bytes_written += bytes;
  ctx_.job.count(sort_stage::run_write, 0, bytes);
}

/// Each writer has space in the file for blocks that compression does not make smaller, and leaves
/// a hole behind those that it does.
void run_file::write_compressed(std::span<const entry> sorted, run& to) {
  const auto& l = ctx_.layout.entries();
  const std::size_t longest = kBlockHeaderBytes + kBlockEntries * l.packed_bytes();
  const std::size_t blocks = (sorted.size() + kBlockEntries - 1) / kBlockEntries;
  const std::size_t step = std::max<std::size_t>(1, kThreadScratchBytes / longest);
  const unsigned threads = ctx_.plan.write_threads;
  const auto start_of = [&](std::uint64_t block, unsigned t) {
    return end_ + (block * longest / base::kPageBytes + 1 + t) * base::kPageBytes;
  };
  std::vector<run_segment> parts(threads);
  const device::stream_group group(ctx_.job.emulation, device::access::write, threads);
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
      if (!ctx_.job.keep(stream.write(file_, piece, parts[t].offset + parts[t].bytes))) return;
      parts[t].bytes += filled;
    }
  });
  end_ = start_of(blocks, threads);
  for (const run_segment& part : parts) {
    if (part.bytes == 0) continue;
    to.segments.push_back(part);
    totals_.bytes_written += part.bytes;
    ctx_.job.count(sort_stage::run_write, 0, part.bytes);
  }
}

void run_file::append(std::span<const entry> sorted) {
  run r{.segments = {}, .entries = 0, .compressed = should_compress(sorted)};
  write(sorted, r);
  ++totals_.runs;
  totals_.compressed += r.compressed;
  runs_.push_back(std::move(r));
}

void run_file::merge_some(std::span<const run> some, std::span<std::byte> buffer,
                          std::span<entry> piece, after_reading space,
                          const std::function<void(std::span<entry>)>& take) {
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
      cursors.push_back({run_reader(ctx_, file_, some[i], memory, space)});
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
    run merged;
    merge_some(some, room, piece_buffer->as<entry>(), after_reading::give_back,
               [&](std::span<entry> sorted) {
                 if (merged.entries == 0) merged.compressed = should_compress(sorted);
                 write(sorted, merged);
               });
    runs_.erase(runs_.begin(), behind);
    ++totals_.runs;
    totals_.compressed += merged.compressed;
    runs_.push_back(std::move(merged));
  }
}

void run_file::merge(std::span<std::byte> buffer, std::span<entry> piece,
                     const std::function<void(std::span<entry>)>& take) {
  if (!runs_.empty()) merge_some(runs_, buffer, piece, after_reading::keep, take);
}

}  // namespace isotherm::sort
