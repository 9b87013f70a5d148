// Parts that drivers with several threads share: the time of a request, and a common end.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/atomic.hpp"
#include "base/error.hpp"

namespace isotherm::workload {

/// Waits until `due` without burning the processor for long: sleep ends 60 us before, and the rest
/// is spun, since wake-ups are late.
inline void wait_until(std::chrono::steady_clock::time_point due) {
  using clock = std::chrono::steady_clock;
  constexpr auto kSpin = std::chrono::microseconds(60);
  if (due - clock::now() > 2 * kSpin) std::this_thread::sleep_until(due - kSpin);
  while (clock::now() < due) base::spin_pause();
}

/// Tells the threads of a run to stop, and keeps the first failure of them. fail() is for all
/// threads; `failure` is read once they have been joined.
struct run_end {
  /// A request that publishes nothing: relaxed loads see it in time.
  base::atomic<bool> stop{false};
  std::optional<base::error> failure;  ///< under `mutex` while threads run

  void fail(base::error why) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::move(why);
    stop.store_release(true);
  }

 private:
  std::mutex mutex;
};

}  // namespace isotherm::workload
