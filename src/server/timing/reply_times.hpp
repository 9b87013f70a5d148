// How long replies take in the server: from the read of a request's first byte until the last of
// what answers it was handed to the socket. A pipeline counts as one request.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/atomic.hpp"

namespace isotherm::server {

/// What is told of them.
struct reply_quantile {
  std::string_view name;  ///< in INFO, STATS and metrics
  double share;           ///< of the replies that took at most so long
  std::string_view help;
};
inline constexpr std::array kReplyQuantiles{
    reply_quantile{
        "reply_p50_us", 0.5,
        "half of the replies of the last second took the server at most so long, a pipeline as "
        "one"},
    reply_quantile{"reply_p99_us", 0.99, "99 of 100 of these replies took at most so long"},
    reply_quantile{"reply_p999_us", 0.999, "999 of 1000 of these replies took at most so long"}};

/// Counts of times, those of a power of two nanoseconds in four buckets. One thread records, any
/// thread reads: relaxed, since no other memory depends on a count, and who reads one count again
/// never gets less.
class reply_times {
 public:
  static constexpr std::size_t kBuckets =
      std::size_t{4} * 40;  ///< the last one: of 2^40 ns and more
  using counts = std::array<std::uint64_t, kBuckets>;

  void record(std::uint64_t ns) noexcept {
    sum_ns_.store_relaxed(sum_ns_.load_relaxed() + ns);
    auto& one = counts_[bucket_of(ns)];
    one.store_relaxed(one.load_relaxed() + 1);
  }

  void add_to(counts& sum) const noexcept {
    for (std::size_t b = 0; b < kBuckets; ++b) sum[b] += counts_[b].load_relaxed();
  }

  /// Of all times that were recorded.
  std::uint64_t sum_ns() const noexcept { return sum_ns_.load_relaxed(); }

  /// The first time, in nanoseconds, beyond a bucket; of four of them, the last ends at a power of
  /// two.
  static constexpr std::uint64_t end_of(std::size_t bucket) noexcept {
    if (bucket < 4) return bucket + 1;
    return (std::uint64_t{5} + bucket % 4) << (bucket / 4 - 1);
  }

  /// The time, in microseconds, within which at least `share` of the times lie, at most a quarter
  /// too long; 0 where none was recorded.
  static std::uint64_t quantile_us(const counts& of, double share) noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t each : of) all += each;
    std::uint64_t seen = 0;
    for (std::size_t b = 0; b < kBuckets && all > 0; ++b) {
      seen += of[b];
      if (static_cast<double>(seen) >= share * static_cast<double>(all))
        return (end_of(b) + 999) / 1000;
    }
    return 0;
  }

 private:
  static constexpr std::size_t bucket_of(std::uint64_t ns) noexcept {
    if (ns < 4) return ns;
    const auto power = static_cast<std::size_t>(std::bit_width(ns)) - 1;
    return std::min<std::size_t>(4 * (power - 1) + ((ns >> (power - 2)) & 3), kBuckets - 1);
  }
  base::atomic<std::uint64_t> sum_ns_{0};
  std::array<base::atomic<std::uint64_t>, kBuckets> counts_{};
};

}  // namespace isotherm::server
