// Sorts by a library's vectorised quicksort, one part for each thread. The parts are cut at samples
// of the numbers, equal numbers falling into one part.
#include "sort/input/sort_entries.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <array>
#include <vector>

namespace isotherm::sort {
namespace {

static_assert(sizeof(hwy::uint128_t) == sizeof(entry));
constexpr std::size_t kWorthThreads = 1 << 16;

void sort_part(std::span<entry> part) {
  const hwy::Sorter sorter;
  sorter(reinterpret_cast<hwy::uint128_t*>(part.data()), part.size(), hwy::SortAscending());
}

void sort_part(std::span<std::uint64_t> part) {
  const hwy::Sorter sorter;
  sorter(part.data(), part.size(), hwy::SortAscending());
}

/// Moves the numbers below `pivot` to the front and returns how many; no branches on the data.
template <class Number>
std::size_t split(std::span<Number> all, Number pivot) {
  std::size_t low = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Number n = all[i];
    all[i] = all[low];
    all[low] = n;
    low += n < pivot;
  }
  return low;
}

/// Cuts `all` into `parts` ranges of about the same size, each wholly below the next.
template <class Number>
void cut(std::span<Number> all, unsigned parts, std::vector<std::span<Number>>& out) {
  if (parts <= 1 || all.size() < kWorthThreads) {
    out.push_back(all);
    return;
  }
  std::array<Number, 255> sample;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i] = all[all.size() / sample.size() * i];
  }
  std::sort(sample.begin(), sample.end());
  const unsigned left = parts / 2;
  const std::size_t middle = split(all, sample[sample.size() * left / parts]);
  cut(all.first(middle), left, out);
  cut(all.subspan(middle), parts - left, out);
}

template <class Number>
void sort_by_all(std::span<Number> all, os::thread_pool& pool, unsigned threads) {
  if (std::is_sorted(all.begin(), all.end())) return;
  if (std::is_sorted(all.rbegin(), all.rend())) {
    std::reverse(all.begin(), all.end());
    return;
  }
  std::vector<std::span<Number>> ranges;
  cut(all, threads, ranges);
  pool.run(static_cast<unsigned>(ranges.size()), [&](unsigned t) {
    if (ranges[t].size() > 1) sort_part(ranges[t]);
  });
}

}  // namespace

void sort_entries(std::span<entry> entries) {
  if (entries.size() > 1) sort_part(entries);
}

void sort_entries(std::span<entry> entries, os::thread_pool& pool, unsigned threads) {
  sort_by_all(entries, pool, threads);
}

void sort_integers(std::span<std::uint64_t> integers, os::thread_pool& pool, unsigned threads) {
  sort_by_all(integers, pool, threads);
}

}  // namespace isotherm::sort
