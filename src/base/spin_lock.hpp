// Spinning, and a lock for sections of some hundred instructions.
#pragma once

#include <thread>

#include "base/atomic.hpp"

namespace isotherm::base {

/// Waits a little at each call: spins at first, later yields the processor, which the awaited
/// thread needs when there are more threads than processors.
class backoff {
 public:
  void operator()() noexcept {
    if (++turns_ < kSpins) {
      spin_pause();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  static constexpr unsigned kSpins = 64;
  unsigned turns_ = 0;
};

/// A lock of one byte: one read-modify-write to lock and none to unlock, where a std::mutex needs
/// one for each. For short sections that are hardly ever contended. Satisfies BasicLockable.
class spin_lock {
 public:
  void lock() noexcept {
    // Acquire: pairs with the release in unlock().
    for (backoff wait; is_held_.exchange_acq_rel(true);) wait();
  }
  void unlock() noexcept { is_held_.store_release(false); }

 private:
  atomic<bool> is_held_{false};
};

}  // namespace isotherm::base
