// A lock for sections that may last as long as a disk access.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::base {

/// A lock of four bytes. A thread that has to wait for more than about a microsecond sleeps until
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
    // This thread cannot know whether others sleep too, so it takes the lock as kAwaited.
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
  static constexpr std::uint32_t kAwaited = 2;  // held, and threads may be asleep until it is free
  static constexpr unsigned kSpins = 64;
  atomic<std::uint32_t> state_{kFree};
};

}  // namespace isotherm::base
