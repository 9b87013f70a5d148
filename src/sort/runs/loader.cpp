#include "sort/runs/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/stream.hpp"
#include "os/thread_pool.hpp"
#include "sort/keys/record_ends.hpp"
#include "sort/runs/line_parts.hpp"

namespace isotherm::sort {

key_row read_keys(source_view& view, const record_layout& layout, key_reading how,
                  std::uint64_t first, std::uint64_t count, std::vector<std::byte>& room) {
  const std::uint64_t record = layout.record_bytes();
  if (how == key_reading::in_records || view.mapped()) {
    const std::byte* bytes = view.bytes(first * record, count * record);
    return {bytes == nullptr ? nullptr : bytes + layout.key_offset(), record};
  }
  const std::uint64_t key = layout.key_bytes();
  room.resize(count * key);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* bytes = view.bytes((first + i) * record + layout.key_offset(), key);
    if (bytes == nullptr) return {nullptr, 0};
    std::memcpy(&room[i * key], bytes, key);
  }
  return {room.data(), key};
}

std::size_t loader::load(std::span<entry> target, std::uint64_t until) {
  const stage_timer timer(ctx_.job, sort_stage::run_read);
  until = std::min(until, ctx_.input.size());
  std::size_t n = 0;
  if (ctx_.layout.fixed()) {
    n = load_fixed(target, until);
  } else if (ctx_.job.options.format == record_format::klv) {
    n = load_klv(target, until);
  } else {
    n = load_lines(target, until);
  }
  records_ += n;
  return n;
}

std::size_t loader::load_fixed(std::span<entry> target, std::uint64_t until) {
  const std::uint64_t record = ctx_.layout.record_bytes();
  const std::uint64_t first = at_ / record;
  const std::size_t count = std::min<std::uint64_t>(target.size(), until / record - first);
  const unsigned threads =
      ctx_.plan.sequential_load ? ctx_.plan.read_threads : ctx_.plan.strided_threads;
  const auto kind =
      ctx_.plan.sequential_load ? device::access::sequential_read : device::access::strided_read;
  const std::uint64_t asked = ctx_.plan.sequential_load ? record : ctx_.layout.key_bytes();
  const auto how = ctx_.plan.sequential_load ? key_reading::in_records : key_reading_of(record);
  const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record);
  const device::stream_group group(ctx_.job.emulation, kind, threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    source_view view(ctx_.job, ctx_.input);
    std::vector<std::byte> room;
    device::stream stream(group);
    const auto [begin, end] = os::part_of(count, threads, t);
    for (std::uint64_t at = begin; at < end && !ctx_.job.stopped(); at += step) {
      const std::uint64_t n = std::min(step, end - at);
      const key_row keys = read_keys(view, ctx_.layout, how, first + at, n, room);
      if (keys.first == nullptr) return;
      for (std::uint64_t i = 0; i < n; ++i) {
        target[at + i] = ctx_.layout.fixed_entry(keys.first + i * keys.stride, first + at + i);
      }
      stream.touched(n, asked, record);
      ctx_.job.count(sort_stage::run_read, n * asked, 0);
      ctx_.job.progress(sort_stage::run_read, done_.fetch_add_relaxed(n * record) + n * record,
                        ctx_.input.size());
    }
  });
  at_ = (first + count) * record;
  return ctx_.job.stopped() ? 0 : count;
}

/// Makes the entry of a klv record or line. A length that the entry has no room for is noted, so
/// that it is never read from the input again.
entry loader::take(const std::byte* record, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes >= kLongRecord) ctx_.input.note_length(offset, bytes);
  return ctx_.layout.variable_entry(record, offset, bytes);
}

/// On one thread: where a record begins is known only from the one before it.
std::size_t loader::load_klv(std::span<entry> target, std::uint64_t until) {
  const std::uint64_t key = ctx_.layout.key_bytes();
  source_view view(ctx_.job, ctx_.input);
  device::stream stream(ctx_.job.emulation, device::access::strided_read);
  std::size_t n = 0;
  constexpr std::size_t kStep = 4096;
  std::uint64_t counted = 0;
  while (n < target.size() && at_ < until && !ctx_.job.stopped()) {
    const std::size_t begin = n;
    const std::uint64_t begin_at = at_;
    const std::size_t stop = std::min(target.size(), n + kStep);
    // One read of a window of the input serves the headers of many small records.
    std::uint64_t window_at = 0;
    std::uint64_t window_bytes = 0;
    const std::byte* window = nullptr;
    for (; n < stop && at_ < until; ++n) {
      if (at_ + key + 4 > ctx_.input.size()) {
        ctx_.job.fail(
            {fmt::format("the record at byte {} of the input is cut: its key and length need "
                         "{} bytes, {} are there",
                         at_, key + 4, ctx_.input.size() - at_),
             0});
        return 0;
      }
      if (window == nullptr || at_ + key + 4 > window_at + window_bytes) {
        window_at = at_;
        window_bytes = std::min<std::uint64_t>(std::max<std::uint64_t>(8192, key + 4),
                                               ctx_.input.size() - at_);
        window = view.bytes(window_at, window_bytes);
        if (window == nullptr) return 0;
      }
      const std::byte* header = window + (at_ - window_at);
      const std::uint32_t value = klv_length(header + key);
      const std::uint64_t bytes = key + 4 + value;
      if (bytes > ctx_.input.size() - at_) {
        ctx_.job.fail(
            {fmt::format("the record at byte {} of the input is cut: its value should have {} "
                         "bytes, {} are there",
                         at_, value, ctx_.input.size() - at_ - key - 4),
             0});
        return 0;
      }
      target[n] = take(header, at_, bytes);
      at_ += bytes;
    }
    stream.touched(n - begin, key + 4, (at_ - begin_at) / (n - begin));
    const bool calls = ctx_.job.emulation == nullptr && ctx_.input.mapped() == nullptr;
    ctx_.job.count(sort_stage::run_read, calls ? view.fetched() - counted : (n - begin) * (key + 4),
                   0);
    counted = view.fetched();
    ctx_.job.progress(sort_stage::run_read, at_, ctx_.input.size());
  }
  return ctx_.job.stopped() ? 0 : n;
}

/// Loads lines by a sequential scan, since only reading finds them; on one thread if they are not
/// in memory.
std::size_t loader::load_lines(std::span<entry> target, std::uint64_t until) {
  std::size_t n = 0;
  while (const std::size_t made = load_lines_by_all(ctx_, target.subspan(n), at_, until)) n += made;
  source_view view(ctx_.job, ctx_.input);
  device::stream stream(ctx_.job.emulation, device::access::sequential_read);
  std::uint64_t counted = 0;
  record_ends ends(ctx_.job.options);
  std::uint64_t scan = at_;  // [at_, scan) has no end of a line
  while (n < target.size() && at_ < until && !ctx_.job.stopped()) {
    const std::uint64_t begin = scan;
    const std::size_t bytes =
        std::min<std::uint64_t>(kThreadScratchBytes, ctx_.input.size() - begin);
    const std::byte* text = view.bytes(begin, bytes);
    if (text == nullptr) return 0;
    std::size_t done = 0;
    while (n < target.size() && at_ < until) {
      const std::size_t length = ends.find({text + done, bytes - done});
      if (length == 0) break;
      const std::uint64_t end = begin + done + length;
      if (at_ >= begin) {
        target[n++] = take(text + (at_ - begin), at_, end - at_);
      } else {
        // The line began in an earlier window: it is read again, and the loop goes on behind it
        // with a new window.
        n += finish_line(at_, end, target[n]);
        at_ = end;
        scan = end;
        done = bytes + 1;
        break;
      }
      at_ = end;
      done += length;
    }
    const bool full = n == target.size() || at_ >= until;
    if (done <= bytes) {
      // The next window begins with the line that this one cuts, unless the line is too long.
      const bool whole_lines = at_ > begin && begin + bytes < ctx_.input.size();
      scan = full || whole_lines ? at_ : begin + bytes;
      if (scan == at_) ends.restart();
    }
    const std::uint64_t used = full ? std::min<std::uint64_t>(bytes, at_ - begin) : bytes;
    stream.touched(1, used);
    const bool calls = ctx_.job.emulation == nullptr && ctx_.input.mapped() == nullptr;
    ctx_.job.count(sort_stage::run_read, calls ? view.fetched() - counted : used, 0);
    counted = view.fetched();
    ctx_.job.progress(sort_stage::run_read, begin + used, ctx_.input.size());
    if (scan >= ctx_.input.size() && ends.within_quotes()) return refuse_open_quote(n);
    if (scan >= ctx_.input.size() && at_ < ctx_.input.size() && n < target.size()) {
      n += finish_line(at_, ctx_.input.size() + 1, target[n]);  // the last line has no newline
      at_ = ctx_.input.size();
    }
  }
  return ctx_.job.stopped() ? 0 : n;
}

/// Fails the job: the row behind `n` others of this load opens a quote that is not closed.
std::size_t loader::refuse_open_quote(std::size_t n) {
  ctx_.job.fail(
      {fmt::format("row {} of the input, from byte {} on, opens a quote that is not closed: close "
                   "or double it, or sort lines without --csv",
                   ctx_.job.options.header_lines + records_ + n + 1, at_),
       0});
  return 0;
}

/// Makes the entry of a line that no single window holds; `end` is the offset behind its newline.
/// The key is looked for in pieces, because the line may be larger than the memory.
std::size_t loader::finish_line(std::uint64_t start, std::uint64_t end, entry& target) {
  source_view view(ctx_.job, ctx_.input);
  constexpr std::uint64_t kHead = 16;  // bytes; an entry holds fewer
  const extent line{start, end - start};
  const record_key key = ctx_.layout.line_key(line, view);
  const std::byte* head = key.bytes(view, 0, std::min(kHead, key.size()));
  if (head == nullptr || ctx_.job.stopped()) return 0;
  if (line.bytes >= kLongRecord) ctx_.input.note_length(start, line.bytes);
  target = ctx_.layout.line_entry(head, key.size(), start, line.bytes);
  return 1;
}

}  // namespace isotherm::sort
