#include "sort/output/output.hpp"

#include <algorithm>
#include <cstring>

namespace isotherm::sort {
namespace {

constexpr std::size_t kPrefetchAhead = 24;
constexpr std::size_t kChargeRecords = 2048;
constexpr std::size_t kWriteStep = 1 << 20;
constexpr std::uint64_t kCachedPiece = 256 << 10;  // what a thread gathers and then writes
constexpr std::uint64_t kPrefetchBytes = 256;      // of one record; its own stream does the rest
constexpr unsigned kSlotBits = 32;
constexpr std::uint64_t kReadTogether = 64 << 10;  // at the most, unless one record has more
constexpr std::uint64_t kWorthSkipping = 1024;     // between records: cheaper than another read

/// Copies a record: most are short, and a loop of fixed steps beats a call.
inline void copy_record(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  constexpr std::size_t kStep = 32;
  if (n < kStep || n > 16 * kStep) {
    std::memcpy(to, from, n);
    return;
  }
  for (std::size_t i = 0; i + kStep <= n; i += kStep) std::memcpy(to + i, from + i, kStep);
  std::memcpy(to + n - kStep, from + n - kStep, kStep);
}

inline void prefetch_record(const std::byte* p, std::uint64_t bytes) noexcept {
  const std::uint64_t near = std::min(bytes, kPrefetchBytes);
  for (std::uint64_t i = 0; i < near; i += 64) __builtin_prefetch(p + i);
  __builtin_prefetch(p + near - 1);
}

}  // namespace

output::output(const context& ctx, const device::file& out, sort_stage write_stage)
    : ctx_(ctx), out_(out), write_stage_(write_stage) {}

output::~output() = default;

bool output::reserve() {
  const int wanted = ctx_.plan.concurrency == sort_concurrency::io_overlap ? 2 : 1;
  for (int i = 0; i < wanted; ++i) {
    auto b = device::buffer::reserve(ctx_.plan.output_buffer_bytes);
    if (!ctx_.job.keep(b)) return false;
    buffers_[i] = std::move(*b);
  }
  return true;
}

/// How many of `entries` fill the next buffer; fills starts_. 0: the first is larger than a buffer.
std::size_t output::lay_out(std::span<const entry> entries) {
  const std::size_t most = std::min(entries.size(), ctx_.plan.queue_entries);
  if (ctx_.layout.fixed()) {
    const std::size_t n =
        std::min(most, ctx_.plan.output_buffer_bytes / ctx_.layout.record_bytes());
    batch_bytes_ = n * ctx_.layout.record_bytes();
    return n;
  }
  source_view view(ctx_.job, ctx_.input);
  starts_.clear();
  batch_bytes_ = 0;
  for (std::size_t i = 0; i < most; ++i) {
    const std::uint64_t bytes = ctx_.layout.locate(entries[i], view).bytes;
    if (batch_bytes_ + bytes > ctx_.plan.output_buffer_bytes) break;
    starts_.push_back(static_cast<std::uint32_t>(batch_bytes_));
    batch_bytes_ += bytes;
  }
  return starts_.size();
}

void output::emit(std::span<entry> entries) {
  while (!entries.empty() && !ctx_.job.stopped()) {
    const std::size_t n = lay_out(entries);
    if (n == 0) {
      source_view view(ctx_.job, ctx_.input);
      copy_long(ctx_.layout.locate(entries.front(), view));
      ++records_;
      entries = entries.subspan(1);
      continue;
    }
    const auto batch = entries.first(n);
    if (ctx_.plan.concurrency == sort_concurrency::no_sync && !ctx_.plan.scan_gather) {
      unsynchronised(batch);
    } else {
      std::byte* buffer = buffers_[turn_].data();
      gather(batch, buffer);
      if (ctx_.plan.concurrency == sort_concurrency::io_overlap) {
        if (writing_.joinable()) writing_.join();
        ctx_.job.beside(writing_, [this, buffer, count = batch_bytes_, offset = written_] {
          write(buffer, count, offset);
        });
        turn_ ^= 1;
      } else {
        write(buffer, batch_bytes_, written_);
      }
    }
    written_ += batch_bytes_;
    records_ += n;
    entries = entries.subspan(n);
    ctx_.job.progress(sort_stage::record_read, written_, ctx_.input.size());
  }
}

void output::finish() {
  if (writing_.joinable()) writing_.join();
}

void output::put(const extent& record, std::byte* target) {
  // The last line may lack its newline, which its extent counts all the same.
  const std::uint64_t there = std::min(record.bytes, ctx_.input.size() - record.offset);
  if (const std::byte* bytes = ctx_.input.at_hand(record.offset, there)) {
    std::memcpy(target, bytes, there);
  } else if (!ctx_.job.keep(ctx_.input.handle().read({target, there}, record.offset))) {
    return;
  }
  if (there < record.bytes) target[there] = std::byte{'\n'};
}

void output::gather_slice(std::span<const entry> batch, std::size_t begin, std::size_t end,
                          std::byte* target, device::stream& stream) {
  source_view view(ctx_.job, ctx_.input);
  const std::byte* mapped = ctx_.input.mapped();
  const bool fixed = ctx_.layout.fixed();
  for (std::size_t at = begin; at < end && !ctx_.job.stopped();) {
    const std::size_t stop = std::min(end, at + kChargeRecords);
    stream.begin();
    const std::size_t first = at;
    if (ctx_.layout.keys_alone()) {  // nothing is read
      put_keys(batch.subspan(at, stop - at), target + start_of(at) - start_of(begin));
      at = stop;
      continue;
    }
    if (mapped != nullptr && fixed) {
      copy_fixed(batch, at, stop, target + start_of(at) - start_of(begin));
      at = stop;
    } else if (ctx_.input.regrouped()) {
      gather_by_place(batch, at, stop, target + start_of(at) - start_of(begin));
      at = stop;
    }
    for (; at < stop; ++at) {
      if (mapped != nullptr && at + kPrefetchAhead < end) {
        const std::byte* p =
            mapped + (ctx_.layout.entries().pointer(batch[at + kPrefetchAhead]) >> 24);
        __builtin_prefetch(p);
        __builtin_prefetch(p + 64);
      }
      put(ctx_.layout.locate(batch[at], view), target + start_of(at) - start_of(begin));
    }
    const std::uint64_t moved =
        (at == batch.size() ? batch_bytes_ : start_of(at)) - start_of(first);
    stream.charge(stop - first, std::max<std::uint64_t>(1, moved / (stop - first)));
    if (!ctx_.input.holds_piece()) ctx_.job.count(sort_stage::record_read, moved, 0);
  }
}

/// The records [begin, end) of the batch, one behind the other, which lie in a few places close
/// together: in the order of the input, so that one read serves many of them.
void output::gather_by_place(std::span<const entry> batch, std::size_t begin, std::size_t end,
                             std::byte* target) {
  source_view lengths(ctx_.job, ctx_.input);
  source_view view(ctx_.job, ctx_.input);
  std::vector<entry> places;  // offset in the input, and number in the batch
  places.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    places.push_back(entry{ctx_.layout.locate(batch[i], lengths).offset} << kSlotBits | i);
  }
  std::sort(places.begin(), places.end());
  const auto extent_of = [&](entry place) {
    return ctx_.layout.locate(batch[static_cast<std::uint32_t>(place)], lengths);
  };
  for (std::size_t i = 0; i < places.size() && !ctx_.job.stopped();) {
    const std::uint64_t from = extent_of(places[i]).offset;
    std::uint64_t bytes = extent_of(places[i]).bytes;
    std::size_t behind = i + 1;
    for (; behind < places.size(); ++behind) {
      const extent next = extent_of(places[behind]);
      const std::uint64_t reach = next.offset + next.bytes - from;
      if (reach - bytes > kWorthSkipping + next.bytes || reach > kReadTogether) break;
      bytes = reach;
    }
    const auto target_of = [&](entry place) {
      return target + start_of(static_cast<std::uint32_t>(place)) - start_of(begin);
    };
    if (behind == i + 1) {  // maybe a long one
      put({from, bytes}, target_of(places[i++]));
      continue;
    }
    const std::byte* here = view.bytes(from, bytes);
    if (here == nullptr) return;
    for (; i < behind; ++i) {
      const extent record = extent_of(places[i]);
      copy_record(target_of(places[i]), here + (record.offset - from), record.bytes);
    }
  }
}

/// The records [begin, end) of the batch, from the mapped input, one behind the other.
void output::copy_fixed(std::span<const entry> batch, std::size_t begin, std::size_t end,
                        std::byte* target) const {
  const std::byte* mapped = ctx_.input.mapped();
  const std::uint64_t bytes = ctx_.layout.record_bytes();
  const auto at = [&](std::size_t i) {
    return mapped + ctx_.layout.entries().pointer(batch[i]) * bytes;
  };
  for (std::size_t i = begin; i < end; ++i, target += bytes) {
    // Beyond this piece lies the next one: it is prefetched as well.
    if (i + kPrefetchAhead < batch.size()) prefetch_record(at(i + kPrefetchAhead), bytes);
    copy_record(target, at(i), bytes);
  }
}

void output::gather(std::span<entry> batch, std::byte* target) {
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  if (ctx_.plan.scan_gather) return gather_by_scan(batch, target);
  const unsigned threads = ctx_.plan.random_threads;
  const device::crew crew(ctx_.job.emulation, device::access::random_read, threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    device::stream stream(crew);
    const auto [begin, end] = device::part_of(batch.size(), threads, t);
    if (begin < end) gather_slice(batch, begin, end, target + start_of(begin), stream);
  });
}

/// Reads the input in its order and picks the records of this batch, for those who cannot read at
/// random (Hubbard, CACM 1963), or do better by a few scans. Fixed records only. The entries, no
/// longer needed, become places in the input and in the buffer.
void output::gather_by_scan(std::span<entry> batch, std::byte* target) {
  constexpr entry kSlots = (entry{1} << kSlotBits) - 1;
  ctx_.job.readers.run(ctx_.plan.sort_threads, [&](unsigned t) {
    const auto [begin, end] = device::part_of(batch.size(), ctx_.plan.sort_threads, t);
    for (std::uint64_t i = begin; i < end; ++i) {
      batch[i] = entry{ctx_.layout.entries().pointer(batch[i])} << kSlotBits | i;
    }
  });
  sort_entries(batch, ctx_.job.readers, ctx_.plan.sort_threads);
  const std::uint64_t record = ctx_.layout.record_bytes();
  const std::uint64_t records = ctx_.input.size() / record;
  const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record);
  const auto number = [](entry e) { return static_cast<std::uint64_t>(e >> kSlotBits); };
  const device::crew crew(ctx_.job.emulation, device::access::sequential_read,
                          ctx_.plan.read_threads);
  ctx_.job.readers.run(ctx_.plan.read_threads, [&](unsigned t) {
    source_view view(ctx_.job, ctx_.input);
    device::stream stream(crew);
    const auto [begin, end] = device::part_of(records, ctx_.plan.read_threads, t);
    auto next = std::lower_bound(batch.begin(), batch.end(), entry{begin} << kSlotBits);
    while (next != batch.end() && number(*next) < end && !ctx_.job.stopped()) {
      const std::uint64_t at = number(*next);  // what lies before it is skipped
      const std::uint64_t n = std::min(step, end - at);
      stream.begin();
      const std::byte* bytes = view.bytes(at * record, n * record);
      if (bytes == nullptr) return;
      for (; next != batch.end() && number(*next) < at + n; ++next) {
        copy_record(target + static_cast<std::uint64_t>(*next & kSlots) * record,
                    bytes + (number(*next) - at) * record, record);
      }
      stream.charge(1, n * record);
      ctx_.job.count(sort_stage::record_read, n * record, 0);
    }
  });
}

void output::write(const std::byte* bytes, std::uint64_t count, std::uint64_t offset) {
  const stage_timer timer(ctx_.job, write_stage_);
  const unsigned threads = ctx_.plan.write_threads;
  const device::crew crew(ctx_.job.emulation, device::access::write, threads);
  ctx_.job.writers.run(threads, [&](unsigned t) {
    device::stream stream(crew);
    const auto [begin, end] = device::part_of(count, threads, t);
    for (std::uint64_t at = begin; at < end && !ctx_.job.stopped(); at += kWriteStep) {
      const std::uint64_t n = std::min<std::uint64_t>(kWriteStep, end - at);
      stream.begin();
      if (!ctx_.job.keep(out_.write({bytes + at, n}, offset + at))) return;
      stream.charge(1, n);
    }
  });
  ctx_.job.count(write_stage_, 0, count);
}

/// The end of a thread's next piece, which has at most so many bytes, or one record.
std::size_t output::end_of_piece(std::size_t begin, std::size_t end, std::uint64_t bytes) const {
  if (ctx_.layout.fixed()) {
    return std::min<std::uint64_t>(
        end, begin + std::max<std::uint64_t>(1, bytes / ctx_.layout.record_bytes()));
  }
  const auto from = starts_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = starts_.begin() + static_cast<std::ptrdiff_t>(end);
  // The piece may end where the record behind it begins, if that lies in reach.
  const auto behind = std::upper_bound(from + 1, last, *from + bytes);
  if (behind == last && (end < starts_.size() ? starts_[end] : batch_bytes_) <= *from + bytes) {
    return end;
  }
  return std::max<std::size_t>(begin + 1, static_cast<std::size_t>(behind - starts_.begin()) - 1);
}

/// Each thread reads and writes small pieces as it comes, with as many streams as there are threads
/// on either side: figure 2a. Each has a part of the buffer, small enough for the processor's
/// cache. The time is RECORD read's, reads and writes being one.
void output::unsynchronised(std::span<const entry> batch) {
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  const unsigned threads = std::max(ctx_.plan.random_threads, ctx_.plan.write_threads);
  const std::uint64_t room = std::min(kCachedPiece, ctx_.plan.output_buffer_bytes / threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    std::byte* piece = buffers_[0].data() + t * room;
    const auto [begin, end] = device::part_of(batch.size(), threads, t);
    for (std::size_t at = begin; at < end && !ctx_.job.stopped();) {
      const std::size_t stop = end_of_piece(at, end, room);
      const std::uint64_t from = start_of(at);
      const std::uint64_t bytes = (stop == batch.size() ? batch_bytes_ : start_of(stop)) - from;
      if (bytes > room) {
        source_view view(ctx_.job, ctx_.input);
        copy_record_by({piece, room}, ctx_.layout.locate(batch[at], view), written_ + from);
      } else {
        {
          device::stream reads(ctx_.job.emulation, device::access::random_read);
          gather_slice(batch, at, stop, piece, reads);
        }
        write_piece({piece, bytes}, written_ + from);
      }
      at = stop;
    }
  });
}

/// What one thread writes.
void output::write_piece(std::span<const std::byte> piece, std::uint64_t offset) {
  device::stream stream(ctx_.job.emulation, device::access::write);
  if (ctx_.job.stopped() || !ctx_.job.keep(out_.write(piece, offset))) return;
  stream.charge(1, piece.size());
  ctx_.job.count(write_stage_, 0, piece.size());
}

/// A record larger than `room` goes through it piece by piece.
void output::copy_record_by(std::span<std::byte> room, const extent& record, std::uint64_t offset) {
  for (std::uint64_t at = 0; at < record.bytes && !ctx_.job.stopped(); at += room.size()) {
    const std::uint64_t n = std::min<std::uint64_t>(room.size(), record.bytes - at);
    {
      device::stream stream(ctx_.job.emulation, device::access::sequential_read);
      put({record.offset + at, n}, room.data());
      stream.charge(1, n);
    }
    if (!ctx_.input.holds_piece()) ctx_.job.count(sort_stage::record_read, n, 0);
    write_piece(room.first(n), offset + at);
  }
}

/// A record larger than the buffer.
void output::copy_long(const extent& record) {
  finish();
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  copy_record_by({buffers_[0].data(), std::min(kCachedPiece, ctx_.plan.output_buffer_bytes)},
                 record, written_);
  written_ += record.bytes;
}

/// Records that are keys alone, as their entries hold them.
void output::put_keys(std::span<const entry> batch, std::byte* target) const {
  const bool reverse = ctx_.layout.entries().reverse;
  const std::uint64_t bytes = ctx_.layout.record_bytes();
  std::byte* const end = target + batch.size() * bytes;
  for (const entry e : batch) {
    const entry key = byteswap128(reverse ? ~e : e);
    const auto room = static_cast<std::size_t>(end - target);
    std::memcpy(target, &key, room < sizeof key ? bytes : sizeof key);
    target += bytes;
  }
}

void copy_input(const context& ctx, const device::file& out) {
  const stage_timer timer(ctx.job, sort_stage::copy);
  auto buffer = device::buffer::reserve(ctx.plan.output_buffer_bytes);
  if (!ctx.job.keep(buffer)) return;
  for (std::uint64_t at = 0; at < ctx.input.size() && !ctx.job.stopped(); at += buffer->size()) {
    const std::uint64_t n = std::min<std::uint64_t>(buffer->size(), ctx.input.size() - at);
    {
      const device::crew crew(ctx.job.emulation, device::access::sequential_read,
                              ctx.plan.read_threads);
      ctx.job.readers.run(ctx.plan.read_threads, [&](unsigned t) {
        device::stream stream(crew);
        const auto [begin, end] = device::part_of(n, ctx.plan.read_threads, t);
        if (begin == end) return;
        ctx.job.keep(ctx.input.handle().read({buffer->data() + begin, end - begin}, at + begin));
        stream.charge(1, end - begin);
      });
    }
    const device::crew crew(ctx.job.emulation, device::access::write, ctx.plan.write_threads);
    ctx.job.writers.run(ctx.plan.write_threads, [&](unsigned t) {
      device::stream stream(crew);
      const auto [begin, end] = device::part_of(n, ctx.plan.write_threads, t);
      if (begin == end || ctx.job.stopped()) return;
      ctx.job.keep(out.write({buffer->data() + begin, end - begin}, at + begin));
      stream.charge(1, end - begin);
    });
    ctx.job.count(sort_stage::copy, n, n);
    ctx.job.progress(sort_stage::copy, at + n, ctx.input.size());
  }
}

}  // namespace isotherm::sort
