// Waiting for what may be held for as long as a disk takes.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::base {

/// As spin_lock, four bytes, but whoever has to wait for more than a microsecond or so sleeps until
/// the holder wakes it (U. Drepper, "Futexes Are Tricky", 2011, the second mutex). Not fair, not
/// recursive. Satisfies Lockable.
class sleeping_lock {
 public:
  void lock() noexcept {
    for (unsigned turns = 0; turns < kSpins; ++turns) {
      if (try_lock()) [[likely]]
        return;
      spin_pause();
    }
    // Whoever got here cannot know whether others sleep too, so it leaves the lock as awaited.
    while (state_.exchange_acq_rel(kAwaited) != kFree) state_.wait_relaxed(kAwaited);
  }
  /// Acquire: pairs with the release in unlock().
  bool try_lock() noexcept {
    std::uint32_t seen = kFree;
    return state_.compare_exchange_acq_rel(seen, kHeld);
  }
  void unlock() noexcept {
    if (state_.exchange_acq_rel(kFree) == kAwaited) state_.notify_one();
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1;
  static constexpr std::uint32_t kAwaited = 2;  // held, and somebody may sleep until it is free
  static constexpr unsigned kSpins = 64;
  atomic<std::uint32_t> state_{kFree};
};

}  // namespace isotherm::base
