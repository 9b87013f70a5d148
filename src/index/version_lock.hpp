// The lock of optimistic lock coupling (Leis, Scheibner, Kemper, Neumann, "The ART of practical
// synchronization", DaMoN 2016): a counter of changes that readers compare and writers lock.
//
// Readers take no lock: they read a version, then fields, and use these if the version is still the
// same. The fields must be atomics, read with acquire and written with release while the version is
// locked. A reader that has read a field's new value therefore sees, when it reads the version
// again, that it was locked or has changed; no fence is needed.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "index/common.hpp"

namespace isotherm::index {

/// Version word: obsolete | locked | number of changes.
class version_lock {
 public:
  static constexpr std::uint64_t kObsolete = 1, kLocked = 2, kStep = 4;

  static bool is_obsolete(std::uint64_t version) noexcept { return (version & kObsolete) != 0; }

  /// The version while no thread holds the lock; waits for the holder.
  std::uint64_t read() const noexcept {
    std::uint64_t v = word_.load_acquire();
    for (backoff wait; v & kLocked; v = word_.load_acquire()) wait();
    return v;
  }
  /// True when nothing has changed since `version` was read: the fields read since then belong
  /// together.
  bool is_still(std::uint64_t version) const noexcept { return word_.load_acquire() == version; }
  /// Locks if nothing has changed since `version` was read; otherwise false.
  bool upgrade(std::uint64_t version) noexcept {
    return word_.compare_exchange_acq_rel(version, version | kLocked);
  }
  /// Locks; false when the node is obsolete.
  bool lock() noexcept {
    for (backoff wait;; wait()) {
      const std::uint64_t v = read();
      if (is_obsolete(v)) return false;
      if (upgrade(v)) return true;
    }
  }
  void unlock_changed() noexcept { word_.store_release((word_.load_relaxed() & ~kLocked) + kStep); }
  void unlock_unchanged() noexcept { word_.store_release(word_.load_relaxed() & ~kLocked); }
  void unlock_obsolete() noexcept {
    word_.store_release(((word_.load_relaxed() & ~kLocked) + kStep) | kObsolete);
  }

 private:
  base::atomic<std::uint64_t> word_{0};
};

/// The interface of version_lock, without effect: for a structure that one lock guards as a whole.
struct no_version_lock {
  static bool is_obsolete(std::uint64_t) noexcept { return false; }
  std::uint64_t read() const noexcept { return 0; }
  bool is_still(std::uint64_t) const noexcept { return true; }
  bool upgrade(std::uint64_t) noexcept { return true; }
  bool lock() noexcept { return true; }
  void unlock_changed() noexcept {}
  void unlock_unchanged() noexcept {}
  void unlock_obsolete() noexcept {}
};

}  // namespace isotherm::index
