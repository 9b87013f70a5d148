// Hinted reclaim (OBASE 3.4): when COLD is used little enough, tell the kernel that its pages
// may go; back off when memory stalls show that moving pages hurts, and when pages come back.
//
// The published gate, a promotion rate at or below target, never opens for a steady skewed load,
// whose tail comes back at a rate that no threshold up to 31 windows brings under 1% a minute. Such
// pages are still worth their eviction when they come back seldom enough, which is what the
// five-minute rule weighs (Appuswamy, Graefe, Borovica-Gajic, Ailamaki, CACM 2019; OBASE 4.5
// sets its first threshold by it): so the gate opens as well when COLD's pages rest long enough.
#pragma once

#include <cstdint>
#include <limits>

#include "heap/heap.hpp"

namespace isotherm::collector {

/// Share of time in which some task waited for memory (pressure-stall avg10, percent) above which
/// less is hinted.
inline constexpr double kPressureLimit = 10.0;

/// Whether moving pages hurts. Less is hinted then, not nothing: the stalls may be another
/// program's, and what is cold is what should go when memory is short. Pure.
constexpr bool backs_off(double pressure_percent, bool comes_back_soon) noexcept {
  return comes_back_soon || pressure_percent > kPressureLimit;
}

/// Mean time between two uses of a COLD page, in seconds: its pages * window / pages used in the
/// window. Infinite when none was used. Pure.
constexpr double mean_rest_seconds(std::uint64_t cold_pages, std::uint64_t accessed_cold_pages,
                                   double window_seconds) noexcept {
  if (accessed_cold_pages == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(cold_pages) * window_seconds /
         static_cast<double>(accessed_cold_pages);
}

/// Whether COLD is used little enough for its pages to leave DRAM. Pure.
constexpr bool may_leave(double promotion_rate, double target, double rest_seconds,
                         double min_rest_seconds) noexcept {
  return promotion_rate <= target || rest_seconds >= min_rest_seconds;
}

/// Bytes that the next window may hint: halved while moving pages hurts, doubled up to `limit`
/// otherwise; never under 1 MiB. Pure.
constexpr std::uint64_t next_allowance(std::uint64_t allowance, bool hurts,
                                       std::uint64_t limit) noexcept {
  constexpr std::uint64_t kFloor = std::uint64_t{1} << 20;
  allowance = allowance < limit ? allowance : limit;
  if (hurts) {
    return allowance / 2 < kFloor ? kFloor : allowance / 2;
  }
  return allowance > limit / 2 ? limit : allowance * 2;
}

/// Asks for COLD pages to leave DRAM, a bounded number of bytes a window. For the collecting
/// thread.
class reclaim_policy {
 public:
  /// Gives `how` for COLD, of which the gate said that it may leave, less of it while that hurts.
  /// Ends soon once `stop` says true.
  heap::reclaim_report run(heap::hint how, std::uint64_t limit_bytes, bool comes_back_soon,
                           const std::function<bool()>& stop);

 private:
  std::uint64_t allowance_bytes_ = ~std::uint64_t{0};
};

}  // namespace isotherm::collector
