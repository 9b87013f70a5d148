// Paging COLD out (OBASE 3.4), a pure policy: when COLD is used little enough, it may leave DRAM;
// less of it when memory stalls show that moving pages hurts, and when pages
// come back.
//
// The published gate, a promotion rate at or below target, never opens for a steady skewed load,
// whose tail comes back at a rate that no threshold up to 31 windows brings under 1% a minute. Such
// pages are still worth their eviction when they come back seldom enough, which is what the
// five-minute rule weighs (Appuswamy, Graefe, Borovica-Gajic, Ailamaki, CACM 2019; OBASE 4.5
// sets its first threshold by it): so the gate opens as well when COLD's pages rest long enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace isotherm::collector {

/// Share of time in which some task waited for memory (pressure-stall avg10, percent) above which
/// less is hinted.
inline constexpr double kPressureLimit = 10.0;

/// Whether moving pages hurts: tasks wait for memory, or COLD's pages come back too soon. Less is
/// hinted then, not nothing: the stalls may be another program's, and what is cold is what should
/// go when memory is short.
constexpr bool hurts(double pressure_percent, double rest_seconds,
                     double min_rest_seconds) noexcept {
  return rest_seconds < min_rest_seconds || pressure_percent > kPressureLimit;
}

/// Mean time between two uses of a COLD page, in seconds: its pages * window / pages used in the
/// window. Infinite when none was used.
constexpr double mean_rest_seconds(std::uint64_t cold_pages, std::uint64_t accessed_cold_pages,
                                   double window_seconds) noexcept {
  if (accessed_cold_pages == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(cold_pages) * window_seconds /
         static_cast<double>(accessed_cold_pages);
}

/// Whether COLD is used little enough for its pages to leave DRAM.
constexpr bool may_leave(double promotion_rate, double target, double rest_seconds,
                         double min_rest_seconds) noexcept {
  return promotion_rate <= target || rest_seconds >= min_rest_seconds;
}

/// Bytes that the next window may hint while moving pages hurts: half, but 1 MiB at least.
constexpr std::uint64_t less(std::uint64_t allowance, std::uint64_t limit) noexcept {
  constexpr std::uint64_t kFloor = std::uint64_t{1} << 20;
  return std::max(std::min(allowance, limit) / 2, kFloor);
}
/// Otherwise: twice as many, but no more than `limit`.
constexpr std::uint64_t more(std::uint64_t allowance, std::uint64_t limit) noexcept {
  return allowance > limit / 2 ? limit : allowance * 2;
}

}  // namespace isotherm::collector
