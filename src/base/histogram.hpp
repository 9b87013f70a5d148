// Histograms of whole numbers, as a rule of nanoseconds, in constant memory: log-linear, as
// HdrHistogram has them. Recording is two shifts and an increment.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "base/atomic.hpp"

namespace isotherm::base {

/// Values below 2^exact_bits have a bucket each. Above, every power of two is cut into
/// 2^(exact_bits - 1) buckets, so that a bucket is at most that part of its values wide. Values of
/// 2^value_bits and more are in the last bucket.
template <unsigned exact_bits, unsigned value_bits>
struct log_buckets {
  static constexpr std::uint64_t kLargest = (std::uint64_t{1} << value_bits) - 1;

  static constexpr std::size_t of(std::uint64_t value) noexcept {
    if (value < kExact) return value;
    value = std::min(value, kLargest);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - exact_bits;
    return kExact + (shift - 1) * kHalf + ((value >> shift) - kHalf);
  }
  /// Returns the least value of a bucket.
  static constexpr std::uint64_t lower_of(std::size_t bucket) noexcept {
    if (bucket < kExact) return bucket;
    const std::size_t above = bucket - kExact;
    return (above % kHalf + kHalf) << (above / kHalf + 1);
  }
  /// Returns the greatest value of a bucket; the last one holds greater values too.
  static constexpr std::uint64_t upper_of(std::size_t bucket) noexcept {
    return lower_of(bucket + 1) - 1;
  }

  static constexpr std::size_t kHalf = std::size_t{1} << (exact_bits - 1);
  static constexpr std::size_t kExact = 2 * kHalf;
  static constexpr std::size_t kCount = of(kLargest) + 1;

  /// Many counts lie on the heap: a histogram may be a local variable.
  template <class Count>
  using counts = std::conditional_t<kCount <= 256, std::array<Count, kCount>, std::vector<Count>>;
  template <class Count>
  static counts<Count> no_counts() {
    if constexpr (kCount <= 256)
      return {};
    else
      return counts<Count>(kCount);
  }
};

/// The values recorded until one moment. Histograms of several threads are added up by merge().
template <unsigned exact_bits, unsigned value_bits>
class histogram {
 public:
  using buckets = log_buckets<exact_bits, value_bits>;

  void merge(const histogram& other) noexcept {
    std::ranges::transform(counts_, other.counts_, counts_.begin(), std::plus());
    count_ += other.count_;
    sum_ += other.sum_;
    largest_ = std::max(largest_, other.largest_);
  }
  /// Leaves the values recorded after `earlier`, a look at the same recorders. largest() is then
  /// the greatest value of its bucket.
  void subtract(const histogram& earlier) noexcept {
    std::ranges::transform(counts_, earlier.counts_, counts_.begin(), std::minus());
    count_ = 0;
    std::uint64_t largest = 0;
    for (std::size_t bucket = 0; bucket < buckets::kCount; ++bucket) {
      count_ += counts_[bucket];
      if (counts_[bucket] > 0) largest = buckets::upper_of(bucket);
    }
    sum_ -= earlier.sum_;
    largest_ = std::min(largest_, largest);
  }

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t count(std::size_t bucket) const noexcept { return counts_[bucket]; }
  std::uint64_t sum() const noexcept { return sum_; }
  double mean() const noexcept {
    return count_ ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
  }
  /// Returns the greatest value, at most buckets::kLargest; exact until subtract().
  std::uint64_t largest() const noexcept { return largest_; }

  /// Returns the bucket of the value of rank ceil(`share` * count). `share` in [0, 1]. Requires: a
  /// value was recorded.
  std::size_t bucket_at(double share) const noexcept {
    const double exact = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_));
    const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets::kCount; ++bucket) {
      seen += counts_[bucket];
      if (seen >= rank) return bucket;
    }
    return buckets::kCount - 1;
  }
  /// Returns the greatest value of bucket_at(share), at most largest(); 0 without values. It
  /// exceeds the true value by at most the width of a bucket.
  std::uint64_t quantile(double share) const noexcept {
    return count_ ? std::min(buckets::upper_of(bucket_at(share)), largest_) : 0;
  }

 private:
  template <unsigned, unsigned>
  friend class live_histogram;

  typename buckets::template counts<std::uint64_t> counts_ =
      buckets::template no_counts<std::uint64_t>();
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
};

/// One thread records, without locked instructions, while others read. Relaxed: no other memory
/// depends on a count, and a second read of a count never returns less.
template <unsigned exact_bits, unsigned value_bits>
class live_histogram {
 public:
  using read_histogram = histogram<exact_bits, value_bits>;
  using buckets = typename read_histogram::buckets;

  void record(std::uint64_t value) noexcept {
    counts_[buckets::of(value)].add_as_only_writer(1);
    count_.add_as_only_writer(1);
    sum_.add_as_only_writer(value);
    value = std::min(value, buckets::kLargest);
    if (value > largest_.load_relaxed()) largest_.store_relaxed(value);
  }
  std::uint64_t count() const noexcept { return count_.load_relaxed(); }
  /// Returns the values recorded until now; all or a part of one that is being recorded.
  read_histogram read() const {
    read_histogram seen;
    for (std::size_t bucket = 0; bucket < buckets::kCount; ++bucket) {
      seen.counts_[bucket] = counts_[bucket].load_relaxed();
      seen.count_ += seen.counts_[bucket];
    }
    seen.sum_ = sum_.load_relaxed();
    seen.largest_ = largest_.load_relaxed();
    return seen;
  }

 private:
  using counter = atomic<std::uint64_t>;
  typename buckets::template counts<counter> counts_ = buckets::template no_counts<counter>();
  counter count_{0}, sum_{0}, largest_{0};
};

}  // namespace isotherm::base
