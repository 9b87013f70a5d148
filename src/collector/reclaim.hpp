// Hinted reclaim (obase.txt 3.4): once COLD is used little enough, tell the kernel that its pages
// may go; back off when memory stalls show that moving pages hurts, and when pages come back.
#pragma once

#include <cstdint>

#include "heap/heap.hpp"

namespace isotherm::collector {

/// Share of time in which some task waited for memory (pressure-stall avg10, percent) above which
/// no hint is given.
inline constexpr double kPressureLimit = 10.0;

/// Bytes that the next window may hint: halved when the pages of COLD that were used again exceed a
/// quarter of what was hinted last, doubled up to `limit` otherwise; never under 1 MiB. Pure.
constexpr std::uint64_t next_allowance(std::uint64_t allowance, std::uint64_t hinted_bytes,
                                       std::uint64_t refaulted_bytes,
                                       std::uint64_t limit) noexcept {
  constexpr std::uint64_t kFloor = std::uint64_t{1} << 20;
  allowance = allowance < limit ? allowance : limit;
  if (hinted_bytes > 0 && refaulted_bytes > hinted_bytes / 4) {
    return allowance / 2 < kFloor ? kFloor : allowance / 2;
  }
  return allowance > limit / 2 ? limit : allowance * 2;
}

/// Asks for COLD pages to leave DRAM, a bounded number of bytes a window. For the collecting
/// thread.
class reclaim_policy {
 public:
  /// Gives `how` for COLD when `cold_is_quiet` (promotion rate at or below target) and memory
  /// pressure allow. `refaulted_bytes`: COLD pages accessed in this window.
  heap::reclaim_report run(heap::hint how, std::uint64_t limit_bytes, bool cold_is_quiet,
                           std::uint64_t refaulted_bytes);

 private:
  std::uint64_t allowance_bytes_ = ~std::uint64_t{0};
  std::uint64_t last_hinted_bytes_ = 0;
};

}  // namespace isotherm::collector
