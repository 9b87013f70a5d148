// How long replies take in the server: from the read of a request's first byte until the last of
// what answers it was handed to the socket. A pipeline counts as one request.
#pragma once

#include <array>
#include <cstdint>

#include "base/histogram.hpp"

namespace isotherm::server {

/// The shares of replies that took at most reply_p50_us, reply_p99_us and reply_p999_us.
inline constexpr std::array kReplyShares{0.5, 0.99, 0.999};

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
