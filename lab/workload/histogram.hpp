// Latencies with three significant digits in constant memory: a log-linear histogram as
// HdrHistogram has it. Values below 2048 have a bucket each; above, every power of two is cut into
// 1024 buckets, so that a bucket is at most 1/1024 of its values wide. Recording is two shifts and
// an increment; histograms of threads are added up at the end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/atomic.hpp"

namespace isotherm::workload {

/// Counts of values, 0 .. kLargest (nanoseconds, by custom); greater ones are recorded as kLargest.
/// Not thread-safe: one per thread, then merge().
class histogram {
 public:
  static constexpr unsigned kExactBits = 11;  ///< values below 2^11 are exact
  static constexpr unsigned kValueBits = 42;  ///< 2^42 ns = 73 minutes
  static constexpr std::uint64_t kLargest = (std::uint64_t{1} << kValueBits) - 1;

  histogram();

  void record(std::uint64_t value) noexcept {
    if (value > kLargest) value = kLargest;
    ++counts_[bucket_of(value)];
    ++count_;
    sum_ += value;
    if (value > largest_) largest_ = value;
  }

  /// Adds what `other` has recorded.
  void merge(const histogram& other) noexcept;
  /// Leaves what was recorded after `earlier`, a copy of this one when it had less. largest() is
  /// then the greatest value of its bucket.
  void subtract(const histogram& earlier) noexcept;
  void clear() noexcept;

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t largest() const noexcept { return largest_; }  ///< exact until subtract()
  double mean() const noexcept { return count_ ? static_cast<double>(sum_) / count_ : 0; }

  /// The greatest value of the bucket that holds the value of rank ceil(`share` * count), 0 when
  /// nothing was recorded. `share` in [0, 1]. At most 1/1024 above the true value.
  std::uint64_t quantile(double share) const noexcept;

  /// Bucket that counts `value` (<= kLargest), and the least and greatest values of a bucket.
  static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < kExact) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kExactBits;
    return kExact + (shift - 1) * kHalf + ((value >> shift) - kHalf);
  }
  static constexpr std::uint64_t lower_of(std::size_t bucket) noexcept {
    if (bucket < kExact) return bucket;
    const std::size_t above = bucket - kExact;
    return (above % kHalf + kHalf) << (above / kHalf + 1);
  }
  static constexpr std::uint64_t upper_of(std::size_t bucket) noexcept {
    return lower_of(bucket + 1) - 1;
  }

 private:
  friend class live_histogram;
  static constexpr std::uint64_t kExact = std::uint64_t{1} << kExactBits;
  static constexpr std::uint64_t kHalf = kExact / 2;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
};

/// The same for one thread that records while others read: without locked instructions.
class live_histogram {
 public:
  live_histogram();

  /// Its own thread only.
  void record(std::uint64_t value) noexcept {
    if (value > histogram::kLargest) value = histogram::kLargest;
    increase(counts_[histogram::bucket_of(value)], 1);
    increase(count_, 1);
    increase(sum_, value);
    if (value > largest_.load_relaxed()) largest_.store_relaxed(value);
  }
  std::uint64_t count() const noexcept { return count_.load_relaxed(); }
  /// What is recorded by now; of a value that is being recorded, all or a part.
  histogram read() const;

 private:
  using counter = base::atomic<std::uint64_t>;
  static void increase(counter& one, std::uint64_t by) noexcept {
    one.store_relaxed(one.load_relaxed() + by);
  }

  std::vector<counter> counts_;
  counter count_{0}, sum_{0}, largest_{0};
};

}  // namespace isotherm::workload
