#include "sort/output/gather.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/stream.hpp"
#include "os/thread_pool.hpp"
#include "sort/input/sort_entries.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kPrefetchAhead = 24;
constexpr std::size_t kChargeRecords = 2048;
constexpr std::uint64_t kPrefetchBytes = 256;  // of one record; the processor's own prefetching
                                               // does the rest
constexpr unsigned kSlotBits = 32;

/// Copies a record. Most are short, and a loop of fixed steps is faster than a call.
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

void gatherer::gather(const batch& b, std::byte* target) {
  const stage_timer timer(ctx_.job, sort_stage::record_read);
  if (ctx_.plan.scan_gather) return by_scan(b, target);
  const unsigned threads = ctx_.plan.random_threads;
  const device::stream_group group(ctx_.job.emulation, device::access::random_read, threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    device::stream stream(group);
    const auto [begin, end] = os::part_of(b.size(), threads, t);
    if (begin < end) gather_slice(b, begin, end, target + b.start_of(begin), stream);
  });
}

void gatherer::gather_slice(const batch& b, std::size_t begin, std::size_t end, std::byte* target,
                            device::stream& stream) {
  const std::span<const entry> entries = b.entries();
  source_view view(ctx_.job, ctx_.input);
  const std::byte* mapped = ctx_.input.mapped();
  const bool fixed = ctx_.layout.fixed();
  for (std::size_t at = begin; at < end && !ctx_.job.stopped();) {
    const std::size_t stop = std::min(end, at + kChargeRecords);
    const std::size_t first = at;
    if (ctx_.layout.keys_alone()) {  // nothing is read
      put_keys(entries.subspan(at, stop - at), target + b.start_of(at) - b.start_of(begin));
      at = stop;
      continue;
    }
    if (mapped != nullptr && fixed) {
      copy_fixed(b, at, stop, target + b.start_of(at) - b.start_of(begin));
      at = stop;
    }
    for (; at < stop; ++at) {
      if (at + kPrefetchAhead < end) {
        const extent ahead = ctx_.layout.locate(entries[at + kPrefetchAhead], view);
        if (const std::byte* p = view.at_hand(ahead.offset, 1)) {
          __builtin_prefetch(p);
          __builtin_prefetch(p + 64);
        }
      }
      put(ctx_.layout.locate(entries[at], view), target + b.start_of(at) - b.start_of(begin));
    }
    const std::uint64_t moved = b.start_of(at) - b.start_of(first);
    stream.touched(stop - first, std::max<std::uint64_t>(1, moved / (stop - first)));
    if (!ctx_.input.holds_piece()) ctx_.job.count(sort_stage::record_read, moved, 0);
  }
}

void gatherer::put(const extent& record, std::byte* target) {
  // The last line may lack its newline; its extent includes one all the same.
  const std::uint64_t there = std::min(record.bytes, ctx_.input.size() - record.offset);
  if (const std::byte* bytes = ctx_.input.at_hand(record.offset, there)) {
    std::memcpy(target, bytes, there);
  } else if (!ctx_.job.keep(ctx_.input.handle().read({target, there}, record.offset))) {
    return;
  }
  if (there < record.bytes) target[there] = std::byte(ctx_.job.options.line_end);
}

/// Copies the records [begin, end) of the batch from the mapped input, one behind the other.
void gatherer::copy_fixed(const batch& b, std::size_t begin, std::size_t end,
                          std::byte* target) const {
  const std::span<const entry> entries = b.entries();
  const std::byte* mapped = ctx_.input.mapped();
  const std::uint64_t bytes = ctx_.layout.record_bytes();
  const auto at = [&](std::size_t i) {
    return mapped + ctx_.layout.entries().pointer(entries[i]) * bytes;
  };
  for (std::size_t i = begin; i < end; ++i, target += bytes) {
    // At the end of this piece the first records of the next one are prefetched.
    if (i + kPrefetchAhead < entries.size()) prefetch_record(at(i + kPrefetchAhead), bytes);
    copy_record(target, at(i), bytes);
  }
}

/// Reads the input in its order and picks the records of this batch (Hubbard, CACM 1963): for
/// devices that cannot read at random, or where a few scans cost less. Fixed records only.
/// Overwrites the entries, no longer needed, with places in the input and in the buffer.
void gatherer::by_scan(const batch& b, std::byte* target) {
  const std::span<entry> entries = b.entries();
  constexpr entry kSlots = (entry{1} << kSlotBits) - 1;
  ctx_.job.readers.run(ctx_.plan.sort_threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(entries.size(), ctx_.plan.sort_threads, t);
    for (std::uint64_t i = begin; i < end; ++i) {
      entries[i] = entry{ctx_.layout.entries().pointer(entries[i])} << kSlotBits | i;
    }
  });
  sort_entries(entries, ctx_.job.readers, ctx_.plan.sort_threads);
  const std::uint64_t record = ctx_.layout.record_bytes();
  const std::uint64_t records = ctx_.input.size() / record;
  const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record);
  const auto number = [](entry e) { return static_cast<std::uint64_t>(e >> kSlotBits); };
  const device::stream_group group(ctx_.job.emulation, device::access::sequential_read,
                                   ctx_.plan.read_threads);
  ctx_.job.readers.run(ctx_.plan.read_threads, [&](unsigned t) {
    source_view view(ctx_.job, ctx_.input);
    device::stream stream(group);
    const auto [begin, end] = os::part_of(records, ctx_.plan.read_threads, t);
    auto next = std::lower_bound(entries.begin(), entries.end(), entry{begin} << kSlotBits);
    while (next != entries.end() && number(*next) < end && !ctx_.job.stopped()) {
      const std::uint64_t at = number(*next);  // records before it are skipped
      const std::uint64_t n = std::min(step, end - at);
      const std::byte* bytes = view.bytes(at * record, n * record);
      if (bytes == nullptr) return;
      for (; next != entries.end() && number(*next) < at + n; ++next) {
        copy_record(target + static_cast<std::uint64_t>(*next & kSlots) * record,
                    bytes + (number(*next) - at) * record, record);
      }
      stream.touched(1, n * record);
      ctx_.job.count(sort_stage::record_read, n * record, 0);
    }
  });
}

/// Writes records that consist of a key alone, from their entries.
void gatherer::put_keys(std::span<const entry> some, std::byte* target) const {
  const std::uint64_t bytes = ctx_.layout.record_bytes();
  std::byte* const end = target + some.size() * bytes;
  for (const entry e : some) {
    const entry key = byteswap128(ctx_.layout.key_in_record(e));
    const auto room = static_cast<std::size_t>(end - target);
    std::memcpy(target, &key, room < sizeof key ? bytes : sizeof key);
    target += bytes;
  }
}

}  // namespace isotherm::sort
