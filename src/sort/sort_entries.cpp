// Entries are distinct integers, so the library's vectorised quicksort meets no equal elements.
#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sort/records.hpp"

namespace isotherm::sort {
namespace {

static_assert(sizeof(hwy::uint128_t) == sizeof(entry));
constexpr std::size_t kWorthThreads = 1 << 16;

/// Moves the entries below `pivot` to the front; returns how many. Without branches on the data.
std::size_t split(std::span<entry> entries, entry pivot) {
  std::size_t low = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const entry e = entries[i];
    entries[i] = entries[low];
    entries[low] = e;
    low += e < pivot;
  }
  return low;
}

/// Cuts `entries` into `parts` ranges, each wholly below the next, of about the same size.
void cut(std::span<entry> entries, unsigned parts, std::vector<std::span<entry>>& out) {
  if (parts <= 1 || entries.size() < kWorthThreads) {
    out.push_back(entries);
    return;
  }
  std::array<entry, 255> sample;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i] = entries[entries.size() / sample.size() * i];
  }
  std::sort(sample.begin(), sample.end());
  const unsigned left = parts / 2;
  const std::size_t middle = split(entries, sample[sample.size() * left / parts]);
  cut(entries.first(middle), left, out);
  cut(entries.subspan(middle), parts - left, out);
}

}  // namespace

void sort_entries(std::span<entry> entries) {
  if (entries.size() < 2) return;
  const hwy::Sorter sorter;
  sorter(reinterpret_cast<hwy::uint128_t*>(entries.data()), entries.size(), hwy::SortAscending());
}

void sort_entries(std::span<entry> entries, device::thread_pool& pool, unsigned threads) {
  if (std::is_sorted(entries.begin(), entries.end())) return;
  if (std::is_sorted(entries.rbegin(), entries.rend())) {
    std::reverse(entries.begin(), entries.end());
    return;
  }
  std::vector<std::span<entry>> ranges;
  cut(entries, threads, ranges);
  pool.run(static_cast<unsigned>(ranges.size()), [&](unsigned t) { sort_entries(ranges[t]); });
}

}  // namespace isotherm::sort
