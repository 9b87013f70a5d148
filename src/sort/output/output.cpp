#include "sort/output/output.hpp"

#include <algorithm>

#include "device/stream.hpp"
#include "os/thread_pool.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kCachedPiece = 256 << 10;  // bytes that a thread gathers before it writes
                                                   // them

}  // namespace

output::output(const context& ctx, const os::file& out, sort_stage write_stage)
    : ctx_(ctx),
      out_(out),
      write_stage_(write_stage),
      batch_(ctx),
      gather_(ctx),
      written_(ctx.plan.output_header_bytes) {}

output::~output() = default;

bool output::reserve() {
  const int wanted = ctx_.plan.concurrency == sort_concurrency::io_overlap ? 2 : 1;
  for (int i = 0; i < wanted; ++i) {
    auto b = os::buffer::reserve(ctx_.plan.output_buffer_bytes);
    if (!ctx_.job.keep(b)) return false;
    buffers_[i] = std::move(*b);
  }
  return true;
}

void output::emit(std::span<entry> entries) {
  while (!entries.empty() && !ctx_.job.stopped()) {
    const std::size_t n = batch_.take(entries);
    if (n == 0) {
      source_view view(ctx_.job, ctx_.input);
      copy_long(ctx_.layout.locate(entries.front(), view));
      ++records_;
      entries = entries.subspan(1);
      continue;
    }
    if (ctx_.plan.concurrency == sort_concurrency::no_sync && !ctx_.plan.scan_gather &&
        !out_.is_in_order()) {
      unsynchronised();
    } else {
      std::byte* buffer = buffers_[turn_].data();
      gather_.gather(batch_, buffer);
      if (ctx_.plan.concurrency == sort_concurrency::io_overlap) {
        if (writing_.joinable()) writing_.join();
        ctx_.job.beside(writing_, [this, buffer, count = batch_.bytes(), offset = written_] {
          write(buffer, count, offset);
        });
        turn_ ^= 1;
      } else {
        write(buffer, batch_.bytes(), written_);
      }
    }
    written_ += batch_.bytes();
    records_ += n;
    entries = entries.subspan(n);
    ctx_.job.progress(sort_stage::record_read, written_, ctx_.input.size());
  }
}

void output::finish() {
  if (writing_.joinable()) writing_.join();
}

void output::write(const std::byte* bytes, std::uint64_t count, std::uint64_t offset) {
  const stage_timer timer(ctx_.job, write_stage_);
  pooled_write(ctx_, out_, {bytes, count}, offset, write_stage_);
}

/// no_sync (figure 2a): each thread gathers and writes small pieces on its own; there are as many
/// threads as the larger of the two pools has. Each thread has a part of the buffer, small enough
/// for the processor's cache. All the time is counted as RECORD read.
void output::unsynchronised() {
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  const unsigned threads = std::max(ctx_.plan.random_threads, ctx_.plan.write_threads);
  const std::uint64_t room = std::min(kCachedPiece, ctx_.plan.output_buffer_bytes / threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    std::byte* piece = buffers_[0].data() + t * room;
    const auto [begin, end] = os::part_of(batch_.size(), threads, t);
    for (std::size_t at = begin; at < end && !ctx_.job.stopped();) {
      const std::size_t stop = batch_.end_of_piece(at, end, room);
      const std::uint64_t from = batch_.start_of(at);
      const std::uint64_t bytes = batch_.start_of(stop) - from;
      if (bytes > room) {
        source_view view(ctx_.job, ctx_.input);
        copy_record_by({piece, room}, ctx_.layout.locate(batch_.entries()[at], view),
                       written_ + from);
      } else {
        {
          device::stream reads(ctx_.job.emulation, device::access::random_read);
          gather_.gather_slice(batch_, at, stop, piece, reads);
        }
        write_piece({piece, bytes}, written_ + from);
      }
      at = stop;
    }
  });
}

/// Writes a piece on this thread.
void output::write_piece(std::span<const std::byte> piece, std::uint64_t offset) {
  device::stream stream(ctx_.job.emulation, device::access::write);
  if (ctx_.job.stopped() || !ctx_.job.keep(stream.write(out_, piece, offset))) return;
  ctx_.job.count(write_stage_, 0, piece.size());
}

/// Copies a record larger than `room` through `room`, piece by piece.
void output::copy_record_by(std::span<std::byte> room, const extent& record, std::uint64_t offset) {
  for (std::uint64_t at = 0; at < record.bytes && !ctx_.job.stopped(); at += room.size()) {
    const std::uint64_t n = std::min<std::uint64_t>(room.size(), record.bytes - at);
    {
      device::stream stream(ctx_.job.emulation, device::access::sequential_read);
      gather_.put({record.offset + at, n}, room.data());
      stream.touched(1, n);
    }
    if (!ctx_.input.holds_piece()) ctx_.job.count(sort_stage::record_read, n, 0);
    write_piece(room.first(n), offset + at);
  }
}

/// Copies a record larger than the buffer.
void output::copy_long(const extent& record) {
  finish();
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  copy_record_by({buffers_[0].data(), std::min(kCachedPiece, ctx_.plan.output_buffer_bytes)},
                 record, written_);
  written_ += record.bytes;
}

}  // namespace isotherm::sort
