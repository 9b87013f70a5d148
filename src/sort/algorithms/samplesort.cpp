// Sample sort of whole records where they lie, on the mapped output: the baseline that treats the
// device as slow memory (WiscSort 2.4.1). Each level reads and writes every record once.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/random.hpp"
#include "sort/algorithms/presorted.hpp"
#include "sort/algorithms/wiscsort.hpp"
#include "sort/output.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kBuckets = 64;
constexpr std::size_t kBaseRecords = kSamplesortCopied;
constexpr std::size_t kOversample = 8;

class in_place {
 public:
  in_place(job& j, std::byte* data, const record_layout& l)
      : job_(j), data_(data), layout_(l), record_(l.record_bytes()) {}

  struct range {
    std::size_t begin, end;
    bool equal = false;  // all keys are the same: nothing to do
  };
  std::vector<range> partition(range r);
  void sort(range r);

 private:
  std::byte* at(std::size_t i) const { return data_ + i * record_; }
  bool less(const std::byte* a, const std::byte* b) const {
    const int o =
        std::memcmp(a + layout_.key_offset(), b + layout_.key_offset(), layout_.key_bytes());
    return job_.options.reverse ? o > 0 : o < 0;
  }
  void sort_base(range r);
  void charge(std::size_t records) {
    device::stream reads(job_.emulation, device::access::random_read);
    reads.charge(records, record_);
    device::stream writes(job_.emulation, device::access::write);
    writes.charge(records, record_);
    job_.count(sort_stage::run_sort, records * record_, records * record_);
  }

  job& job_;
  std::byte* data_;
  const record_layout& layout_;
  const std::uint64_t record_;
};

/// Odd buckets hold keys equal to a splitter, even ones the keys between two.
std::vector<in_place::range> in_place::partition(range r) {
  std::vector<std::vector<std::byte>> sample;
  base::random random(r.begin ^ r.end);
  for (std::size_t i = 0; i < kBuckets * kOversample; ++i) {
    const std::byte* p = at(r.begin + random.below(r.end - r.begin));
    sample.emplace_back(p, p + record_);
  }
  std::sort(sample.begin(), sample.end(),
            [&](const auto& a, const auto& b) { return less(a.data(), b.data()); });
  std::vector<const std::byte*> splitters;
  for (std::size_t i = 1; i < kBuckets; ++i) {
    const std::byte* s = sample[i * kOversample].data();
    if (splitters.empty() || less(splitters.back(), s)) splitters.push_back(s);
  }
  const std::size_t buckets = 2 * splitters.size() + 1;
  const auto bucket_of = [&](const std::byte* p) {
    const auto it =
        std::lower_bound(splitters.begin(), splitters.end(), p,
                         [&](const std::byte* s, const std::byte* x) { return less(s, x); });
    const auto i = static_cast<std::size_t>(it - splitters.begin());
    return 2 * i + (it != splitters.end() && !less(p, *it));
  };
  std::vector<std::size_t> ends(buckets, 0);
  for (std::size_t i = r.begin; i < r.end; ++i) ++ends[bucket_of(at(i))];
  std::vector<range> out(buckets);
  std::size_t start = r.begin;
  std::vector<std::size_t> next(buckets);
  for (std::size_t b = 0; b < buckets; ++b) {
    out[b] = {start, start + ends[b], b % 2 == 1};
    next[b] = start;
    start = out[b].end;
  }
  std::vector<std::byte> held(record_);
  for (std::size_t b = 0; b < buckets; ++b) {
    while (next[b] < out[b].end) {
      const std::size_t home = bucket_of(at(next[b]));
      if (home == b) {
        ++next[b];
        continue;
      }
      std::memcpy(held.data(), at(next[b]), record_);
      std::memcpy(at(next[b]), at(next[home]), record_);
      std::memcpy(at(next[home]++), held.data(), record_);
    }
  }
  charge(r.end - r.begin);
  return out;
}

void in_place::sort_base(range r) {
  const std::size_t n = r.end - r.begin;
  std::vector<std::byte> copy(at(r.begin), at(r.begin) + n * record_);
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return less(&copy[a * record_], &copy[b * record_]);
  });
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(at(r.begin + i), &copy[order[i] * record_], record_);
  }
  charge(n);
}

void in_place::sort(range r) {
  std::vector<range> todo{r};
  while (!todo.empty() && !job_.stopped()) {
    const range next = todo.back();
    todo.pop_back();
    if (next.equal || next.end - next.begin < 2) continue;
    if (next.end - next.begin <= kBaseRecords) {
      sort_base(next);
      continue;
    }
    for (const range& part : partition(next)) todo.push_back(part);
  }
}

}  // namespace

outcome sample_sort(job& j, const plan& p, const source& in, const device::file& out) {
  outcome o;
  o.algorithm = sort_algorithm::samplesort;
  const record_layout layout(j.options);
  o.records = o.records_written = in.size() / layout.record_bytes();
  o.bytes_written = in.size();
  if (in.size() == 0) return o;
  if (!p.map_input) {
    j.fail(
        {"samplesort works on the whole file in memory: give --memory twice the input's size "
         "or more, or take another algorithm",
         0});
    return o;
  }
  // By its own name this is the papers' algorithm, which does not look.
  const bool looks = j.options.algorithm == sort_algorithm::automatic;
  if (looks && copy_presorted(j, p, in, layout, out, o)) return o;
  if (j.stopped()) return o;
  copy_input(j, p, in, out);
  auto map = device::mapping::map(out, in.size(), true);
  if (j.stopped() || !j.keep(map)) return o;
  const stage_timer timer(j, sort_stage::run_sort);
  in_place work(j, map->data(), layout);
  std::vector<in_place::range> parts{{0, o.records}};
  if (o.records > kBaseRecords) parts = work.partition(parts.front());
  base::atomic<std::size_t> next{0};
  const unsigned threads = std::max({p.random_threads, p.write_threads, p.sort_threads});
  j.readers.run(threads, [&](unsigned) {
    for (std::size_t i = next.fetch_add_relaxed(1); i < parts.size() && !j.stopped();
         i = next.fetch_add_relaxed(1)) {
      work.sort(parts[i]);
    }
  });
  return o;
}

}  // namespace isotherm::sort
