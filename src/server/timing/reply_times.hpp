// How long replies take in the server: from the read of a request's first byte until the last of
// what answers it was handed to the socket. A pipeline counts as one request.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/histogram.hpp"

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

/// Times in nanoseconds, those of a power of two in four buckets; from 2^40 * 7/4 on in the last
/// one.
using reply_times = base::live_histogram<3, 41>;
using reply_counts = reply_times::read_histogram;

/// Returns the time, in microseconds, within which at least `share` of the times lie, at most a
/// quarter too long; 0 where none was recorded.
inline std::uint64_t quantile_us(const reply_counts& of, double share) noexcept {
  constexpr std::uint64_t kUs = 1000;
  return of.count() == 0 ? 0 : reply_times::buckets::upper_of(of.bucket_at(share)) / kUs + 1;
}

}  // namespace isotherm::server
