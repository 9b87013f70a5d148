// The cold-threshold controller (OBASE 3.4, 4.4): a pure policy.
#pragma once

#include <algorithm>
#include <cstdint>

namespace isotherm::collector {

inline constexpr unsigned kMinThreshold = 1;
inline constexpr unsigned kMaxThreshold = 31;  // CIW saturates there: a higher one never demotes

/// Share of the working set that came from COLD, scaled to a minute:
/// unique COLD pages accessed / working-set pages * 60 / window seconds. 0 without a working set.
constexpr double promotion_rate(std::uint64_t cold_pages, std::uint64_t working_set_pages,
                                double window_seconds) noexcept {
  if (working_set_pages == 0 || window_seconds <= 0) return 0;
  return static_cast<double>(cold_pages) / static_cast<double>(working_set_pages) * 60 /
         window_seconds;
}

/// Next window's threshold: one up when COLD is used too much, one down when it is used too little;
/// additive, so that it does not swing. Stays in [1, 31].
constexpr unsigned next_threshold(unsigned threshold, double rate, double target) noexcept {
  const unsigned up = std::min(threshold + 1, kMaxThreshold);
  const unsigned down = std::max(threshold, kMinThreshold + 1) - 1;
  if (rate > target) return up;
  return rate < target ? down : threshold;
}

/// Whether a window's rate says something of COLD, which now has `cold_bytes`: what came there in
/// the window itself, more than there was before, was not watched there.
constexpr bool was_watched(std::uint64_t cold_bytes, std::uint64_t cold_bytes_before) noexcept {
  return cold_bytes > 0 && cold_bytes / 2 <= cold_bytes_before;
}

}  // namespace isotherm::collector
