// Sample sort of whole records in place, on the mapped output: the baseline that treats the device
// as slow memory (WiscSort 2.4.1). Each level reads and writes every record once.
//
// The papers run IPS4o (Axtmann, Witt, Ferizovic, Sanders, ESA 2017), which moves records in
// blocks. This one swaps single records into their buckets (PARADIS: Cho et al., PVLDB 8(12),
// 2015): it takes records of any size, charges an emulated device as it goes, and ends soon when it
// is interrupted, none of which the IPS4o library can do. The classification is that of IPS4o: a
// search without branches among many bounds, and separate buckets for keys equal to a bound.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "device/stream.hpp"
#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "os/thread_pool.hpp"
#include "sort/algorithms/algorithm.hpp"
#include "sort/index_sort/presorted.hpp"
#include "sort/input/in_memory.hpp"
#include "sort/input/sort_entries.hpp"
#include "sort/output/copy.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kBuckets = 256;  // of a level, without those for keys equal to a bound
static_assert((kBuckets & (kBuckets - 1)) == 0, "the search halves them");
constexpr std::size_t kBaseRecords = 16384;  // of a range that one thread copies to order them
constexpr std::size_t kOversample = 8;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPrefetchBytes = 256;  // of one record; the processor's own prefetching does
                                             // the rest
constexpr std::size_t kPiece = 4096;    // records between two checks whether the sort was stopped
constexpr std::size_t kForOne = 65536;  // so few records are put in place by one thread

/// How often each of `records` records is moved: once at each level of buckets, and once when its
/// range is small enough to be copied.
constexpr std::uint64_t levels(std::uint64_t records) noexcept {
  std::uint64_t n = 1;
  for (; records > kBaseRecords; records /= kBuckets) ++n;
  return n;
}

/// Every thread reads and writes, so that there are as many as the largest pool has.
unsigned threads_of(const plan& p) {
  return std::max({p.random_threads, p.write_threads, p.sort_threads});
}

struct range {
  std::size_t begin, end;
  bool equal = false;  // all keys are the same: nothing to do
  std::size_t size() const noexcept { return end - begin; }
};

/// A thread's part of one bucket while records are put in place; those in [begin, at) are.
struct stripe {
  std::size_t begin, at, end;
};

/// A thread's copies of the records of a small range, and their entries.
struct scratch {
  std::vector<std::byte> records;
  std::vector<entry> index;
};

class in_place {
 public:
  in_place(const context& ctx, std::byte* data, std::size_t records)
      : ctx_(ctx),
        data_(data),
        record_(ctx.layout.record_bytes()),
        total_(records * record_ * levels(records)) {}

  /// Splits `r` into ranges of which each goes before the next. Only the leading thread may ask for
  /// more than one thread.
  std::vector<range> partition(range r, unsigned threads);
  void sort(range r);

 private:
  using stripes = std::vector<stripe>;

  /// The keys that separate buckets, ascending and distinct.
  struct bounds {
    std::array<entry, kBuckets - 1> heads;  // their entries; unused ones are the largest entry
    std::vector<std::vector<std::byte>> records;  // one record with each of the keys
  };

  std::byte* at(std::size_t i) const { return data_ + i * record_; }
  entry head_of(const std::byte* p) const {
    return ctx_.layout.fixed_entry(p + ctx_.layout.key_offset(), 0);
  }
  void swap(std::size_t a, std::size_t b, std::vector<std::byte>& room) const {
    if (a == b) return;
    std::memcpy(room.data(), at(a), record_);
    std::memcpy(at(a), at(b), record_);
    std::memcpy(at(b), room.data(), record_);
  }
  void prefetch(std::size_t i) const {
    const std::size_t bytes = std::min<std::size_t>(record_, kPrefetchBytes);
    for (std::size_t b = 0; b < bytes; b += kCacheLine) __builtin_prefetch(at(i) + b, 1);
    __builtin_prefetch(at(i) + bytes - 1, 1);
  }
  bounds choose_bounds(range r) const;
  std::size_t bucket_of(const std::byte* p, const bounds& b) const;
  std::vector<range> lay_out(range r, const bounds& b, unsigned threads);
  void put_in_place(std::vector<range>& left, const bounds& b, unsigned threads);
  void place_own(stripes& own, const bounds& b);
  std::size_t bring_together(std::span<const stripes> all, std::size_t bucket);
  void sort_base(range r, scratch& room);
  void count_moved(std::size_t records);

  const context ctx_;
  std::byte* data_;
  const std::uint64_t record_;
  const std::uint64_t total_;  // bytes that all levels will move, estimated
  base::atomic<std::uint64_t> moved_{0};
};

/// Says that `records` were read and written, to an emulated device as well. All threads do so side
/// by side, so that some read while others write.
void in_place::count_moved(std::size_t records) {
  if (records == 0) return;
  {
    device::stream reads(ctx_.job.emulation, device::access::random_read);
    reads.touched(records, record_);
  }
  device::stream writes(ctx_.job.emulation, device::access::write);
  writes.touched(records, record_);
  const std::uint64_t bytes = records * record_;
  ctx_.job.count(sort_stage::run_sort, bytes, bytes);
  ctx_.job.progress(sort_stage::run_sort, std::min(total_, moved_.fetch_add_relaxed(bytes) + bytes),
                    total_);
}

in_place::bounds in_place::choose_bounds(range r) const {
  std::vector<std::vector<std::byte>> sample;
  base::random random(r.begin ^ r.end);
  // Only as many buckets as it takes to make most of them small.
  const std::size_t buckets =
      std::min(kBuckets, std::bit_ceil(2 * (r.size() + kBaseRecords - 1) / kBaseRecords));
  for (std::size_t i = 0; i < buckets * kOversample; ++i) {
    const std::byte* p = at(r.begin + random.below(r.size()));
    sample.emplace_back(p, p + record_);
  }
  const auto less = [&](const auto& a, const auto& b) {
    return compare_records(ctx_.layout, a.data(), b.data()) < 0;
  };
  std::sort(sample.begin(), sample.end(), less);
  bounds b;
  b.heads.fill(~entry{0});
  for (std::size_t i = 1; i < buckets; ++i) {
    auto& next = sample[i * kOversample];
    if (!b.records.empty() && !less(b.records.back(), next)) continue;
    b.heads[b.records.size()] = head_of(next.data());
    b.records.push_back(std::move(next));
  }
  return b;
}

/// Odd buckets hold keys equal to a bound, even ones the keys between two bounds. The pointer in
/// `head` is 0, so that `head` is less than the entries that fill up the heads.
std::size_t in_place::bucket_of(const std::byte* p, const bounds& b) const {
  const entry head = head_of(p);
  std::size_t i = 0;
  for (std::size_t half = kBuckets / 2; half > 0; half /= 2) {
    i += b.heads[i + half - 1] < head ? half : 0;
  }
  if (i == b.records.size() || b.heads[i] != head) return 2 * i;
  if (ctx_.layout.key_bytes() <= ctx_.layout.entries().key_bytes) return 2 * i + 1;
  const auto from = b.records.begin() + static_cast<std::ptrdiff_t>(i);
  const auto it = std::lower_bound(from, b.records.end(), p, [&](const auto& a, const auto* x) {
    return compare_records(ctx_.layout, a.data(), x) < 0;
  });
  i = static_cast<std::size_t>(it - b.records.begin());
  return 2 * i + (it != b.records.end() && compare_records(ctx_.layout, p, it->data()) == 0);
}

/// Counts the records of each bucket, and returns where each bucket will lie.
std::vector<range> in_place::lay_out(range r, const bounds& bounds, unsigned threads) {
  const std::size_t buckets = 2 * bounds.records.size() + 1;
  std::vector<std::vector<std::size_t>> counts(threads, std::vector<std::size_t>(buckets, 0));
  ctx_.job.readers.run(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(r.size(), threads, t);
    for (std::uint64_t i = begin; i < end; ++i) {
      if ((i - begin) % kPiece == 0 && ctx_.job.stopped()) return;
      ++counts[t][bucket_of(at(r.begin + i), bounds)];
    }
  });
  std::vector<range> out(buckets);
  std::size_t start = r.begin;
  for (std::size_t b = 0; b < buckets; ++b) {
    out[b] = {start, start, b % 2 == 1};
    for (const auto& c : counts) out[b].end += c[b];
    start = out[b].end;
  }
  return out;
}

/// Swaps records into their buckets as far as the thread's own stripes have room.
void in_place::place_own(stripes& own, const bounds& bounds) {
  std::vector<std::byte> room(record_);
  std::size_t placed = 0;
  std::size_t seen = 0;
  for (std::size_t b = 0; b < own.size(); ++b) {
    for (std::size_t i = own[b].at; i < own[b].end;) {
      if (++seen % kPiece == 0) {
        count_moved(placed);
        placed = 0;
        if (ctx_.job.stopped()) return;
      }
      stripe& target = own[bucket_of(at(i), bounds)];
      if (target.at == target.end) {
        ++i;
        continue;
      }
      swap(i, target.at++, room);
      if (target.at < target.end) prefetch(target.at);  // for the next record that belongs there
      ++placed;
      if (&target == &own[b]) ++i;
    }
  }
  count_moved(placed);
}

/// Moves the records that do not belong into a bucket to its end; returns where these begin.
std::size_t in_place::bring_together(std::span<const stripes> all, std::size_t bucket) {
  std::size_t boundary = all.front()[bucket].begin;
  for (const stripes& own : all) boundary += own[bucket].at - own[bucket].begin;
  std::vector<std::byte> room(record_);
  std::size_t moved = 0;
  std::size_t behind = 0;  // the stripe of `from`, a record behind the boundary that belongs here
  std::size_t from = boundary;
  for (const stripes& own : all) {
    for (std::size_t i = own[bucket].at; i < std::min(own[bucket].end, boundary); ++i) {
      while (from >= all[behind][bucket].at) {
        from = std::max(boundary, all[++behind][bucket].begin);
      }
      swap(i, from++, room);
      moved += 2;
    }
  }
  count_moved(moved);
  return boundary;
}

/// Moves records to their buckets. Each thread has a stripe of what is left of every bucket, and
/// works only in its stripes. Records for which these have no room are left for the next round; the
/// last rounds run on one thread (PARADIS, VLDB 2015).
void in_place::put_in_place(std::vector<range>& left, const bounds& bounds, unsigned threads) {
  for (std::size_t records = left.back().end - left.front().begin; records > 0;) {
    std::vector<stripes> all(threads);
    for (const range& r : left) {
      for (unsigned t = 0; t < threads; ++t) {
        const auto [begin, end] = os::part_of(r.size(), threads, t);
        all[t].push_back({r.begin + begin, r.begin + begin, r.begin + end});
      }
    }
    ctx_.job.readers.run(threads, [&](unsigned t) { place_own(all[t], bounds); });
    if (ctx_.job.stopped()) return;
    base::atomic<std::size_t> next{0};
    ctx_.job.readers.run(threads, [&](unsigned) {
      for (std::size_t b; (b = next.fetch_add_relaxed(1)) < left.size();) {
        left[b].begin = bring_together(all, b);
      }
    });
    const std::size_t before = std::exchange(records, 0);
    for (const range& r : left) records += r.size();
    if (records <= kForOne || records > before / 2) threads = 1;
  }
}

std::vector<range> in_place::partition(range r, unsigned threads) {
  const bounds b = choose_bounds(r);
  std::vector<range> out = lay_out(r, b, threads);
  std::vector<range> left = out;
  if (!ctx_.job.stopped()) put_in_place(left, b, threads);
  return out;
}

void in_place::sort_base(range r, scratch& room) {
  const std::size_t n = r.size();
  room.records.assign(at(r.begin), at(r.end));
  room.index.resize(n);
  take_keys(ctx_.layout, room.records, room.index, 0, n);
  sort_entries(room.index, ctx_.job.readers, 1);
  tell_apart(ctx_.layout, room.records, room.index);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t from = ctx_.layout.entries().pointer(room.index[i]);
    std::memcpy(at(r.begin + i), &room.records[from * record_], record_);
  }
  count_moved(n);
}

void in_place::sort(range r) {
  scratch room;
  std::vector<range> todo{r};
  while (!todo.empty() && !ctx_.job.stopped()) {
    const range next = todo.back();
    todo.pop_back();
    if (next.equal || next.size() < 2) continue;
    if (next.size() <= kBaseRecords) {
      sort_base(next, room);
      continue;
    }
    for (const range& part : partition(next, 1)) todo.push_back(part);
  }
}

std::string obstacle(const plan& p, double) {
  constexpr std::uint64_t kMiB = 1 << 20;
  if (p.map_input) return "";
  return fmt::format("samplesort works on the whole file in memory: give --memory {}M or more",
                     p.mapping_memory_bytes / kMiB);
}

outcome sample_sort(const context& ctx, const os::file& out) {
  outcome o;
  o.algorithm = sort_algorithm::samplesort;
  o.records = o.records_written = ctx.input.size() / ctx.layout.record_bytes();
  o.bytes_written = ctx.input.size();
  if (ctx.input.size() == 0) return o;
  if (!ctx.plan.map_input) {
    ctx.job.fail(
        {obstacle(ctx.plan, static_cast<double>(o.records)) + ", or take another algorithm", 0});
    return o;
  }
  // The papers' algorithm, which the user names, does not look for order in the input.
  const bool looks = ctx.job.options.algorithm == sort_algorithm::automatic;
  if (looks && copy_presorted(ctx, out, o)) return o;
  if (ctx.job.stopped()) return o;
  copy_input(ctx, out);
  auto map = os::mapping::map(out, ctx.input.size(), os::mapping_access::read_write);
  if (ctx.job.stopped() || !ctx.job.keep(map)) return o;
  const stage_timer timer(ctx.job, sort_stage::run_sort);
  in_place work(ctx, map->data(), o.records);
  std::vector<range> parts{{0, o.records}};
  const unsigned threads = threads_of(ctx.plan);
  if (o.records > kBaseRecords) parts = work.partition(parts.front(), threads);
  base::atomic<std::size_t> next{0};
  ctx.job.readers.run(threads, [&](unsigned) {
    for (std::size_t i = next.fetch_add_relaxed(1); i < parts.size() && !ctx.job.stopped();
         i = next.fetch_add_relaxed(1)) {
      work.sort(parts[i]);
    }
  });
  return o;
}

base::result<void> check(const sort_options& o) {
  if (auto r = take_whole_fixed_records(o); !r || !o.stable) return r;
  return std::unexpected(base::error{
      "--algorithm samplesort does not keep the order of equal keys: leave out --stable, or take "
      "another algorithm",
      0});
}

/// The copy of the input, then one read and one write of all records at each level.
prediction predict(const plan& p, const sort_options&, const facts& known) {
  const input_facts& in = known.input;
  const processor_speed& cpu = known.processor;
  cost sum(*known.device, p, cpu);
  const double bytes = static_cast<double>(in.bytes);
  const double records = bytes / in.record_bytes;
  const auto passes = static_cast<double>(levels(static_cast<std::uint64_t>(records)));
  sum.sequential(bytes);
  sum.written(bytes);
  sum.mixed(bytes * passes, in.record_bytes, bytes * passes, threads_of(p));
  sum.seconds(records * passes * cpu.merge_record_ns * 1e-9 / p.sort_threads);
  return {sum.total(), ""};
}

std::uint64_t no_bytes(const plan&, const sort_options&, std::uint64_t, std::uint64_t) { return 0; }

}  // namespace

extern const algorithm kSamplesort;
constinit const algorithm kSamplesort = {.id = sort_algorithm::samplesort,
                                         .name = "samplesort",
                                         .candidate = true,
                                         .check = check,
                                         .way = {.in_place = true, .copied_records = kBaseRecords},
                                         .obstacle = obstacle,
                                         .predict = predict,
                                         .temporary_bytes = no_bytes,
                                         .run = sample_sort};

}  // namespace isotherm::sort
