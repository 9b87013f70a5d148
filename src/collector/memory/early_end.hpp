// Whether a window should end before its time, because memory is short.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "collector/memory/memory_room.hpp"

namespace isotherm::collector {

/// Returns how soon after a window that left memory near its target, and sent `demoted_bytes` to
/// COLD, the next may end early. Beside a load that goes on memory is near it after each, however
/// much left. Where next to nothing did, the next waits twice as long as `last`, up to a `whole`
/// window.
constexpr std::chrono::nanoseconds next_early_end(std::chrono::nanoseconds last,
                                                  std::uint64_t demoted_bytes,
                                                  std::uint64_t target_bytes,
                                                  std::chrono::nanoseconds whole) noexcept {
  if (demoted_bytes >= moved_together(target_bytes)) return kLookEvery;
  return std::min(2 * last, whole);
}

/// One thread.
class early_end {
 public:
  /// Whether the window that has lasted `elapsed` should end now. `newborn_bytes`: the extents of
  /// NEW, which a load fills: nearly all of it can leave, and it takes a while.
  bool is_due(const memory_room& room, std::uint64_t newborn_bytes,
              std::chrono::duration<double> elapsed) const noexcept {
    return is_near_target(room, newborn_bytes) && elapsed >= after_;
  }
  /// A window of the length `whole` has ended and sent `demoted_bytes` to COLD.
  void end_window(const memory_room& room, std::uint64_t newborn_bytes, std::uint64_t demoted_bytes,
                  std::chrono::nanoseconds whole) noexcept {
    after_ = is_near_target(room, newborn_bytes)
                 ? next_early_end(after_, demoted_bytes, room.target_bytes, whole)
                 : kLookEvery;
  }

 private:
  /// Less room is left than a quarter of what NEW holds.
  static bool is_near_target(const memory_room& room, std::uint64_t newborn_bytes) noexcept {
    return room.target_bytes != 0 && room.dram_bytes + newborn_bytes / 4 > room.target_bytes;
  }

  std::chrono::nanoseconds after_ = kLookEvery;
};

}  // namespace isotherm::collector
