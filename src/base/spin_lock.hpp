// Waiting for what is held for some hundred instructions.
#pragma once

#include <thread>

#include "base/atomic.hpp"

namespace isotherm::base {

/// Spins, then lets others run, which matters when there are more threads than processors.
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

/// A byte; one read-modify-write to lock, none to unlock, where std::mutex needs two. For sections
/// that are short and hardly ever contended. Satisfies BasicLockable.
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
