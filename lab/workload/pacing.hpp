// Requests at their times.
#pragma once

#include <chrono>
#include <thread>

#include "base/atomic.hpp"

namespace isotherm::workload {

/// Waits until `due` without burning the processor for long: sleep ends 60 us before, and the rest
/// is spun, since wake-ups are late.
inline void wait_until(std::chrono::steady_clock::time_point due) {
  using clock = std::chrono::steady_clock;
  constexpr auto kSpin = std::chrono::microseconds(60);
  if (due - clock::now() > 2 * kSpin) std::this_thread::sleep_until(due - kSpin);
  while (clock::now() < due) base::spin_pause();
}

}  // namespace isotherm::workload
