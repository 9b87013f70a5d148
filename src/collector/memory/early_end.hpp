// Whether a window should end before its time, because memory is short.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "collector/memory/memory_room.hpp"

namespace isotherm::collector {

/// One thread.
class early_end {
 public:
  /// Returns whether the window that has lasted `elapsed` should end now. The first one of all
  /// should before writers need its result: when a quarter of the target is left.
  bool is_due(const memory_room& room, std::chrono::duration<double> elapsed) const noexcept {
    return is_needed(room) && elapsed >= after_;
  }
  /// Returns whether memory asks for a window's end.
  bool is_needed(const memory_room& room) const noexcept {
    return room.is_low() || (is_first_ && room.lacks(room.target_bytes / 4));
  }
  /// Ends a window of the length `whole` that has sent `demoted_bytes` to COLD. The next window may
  /// end early at the next look. If memory stayed low and next to nothing was sent, it may end
  /// early only after twice the time of this one, up to a whole window.
  void end_window(const memory_room& room, std::uint64_t demoted_bytes,
                  std::chrono::nanoseconds whole) noexcept {
    const bool is_in_vain = room.is_low() && demoted_bytes < moved_together(room.target_bytes);
    is_first_ = false;
    after_ = is_in_vain ? std::min(2 * after_, whole) : kLookEvery;
  }

 private:
  std::chrono::nanoseconds after_ = kLookEvery;
  bool is_first_ = true;
};

}  // namespace isotherm::collector
