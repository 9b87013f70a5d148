// The busiest of the last windows, and the misses of one that is as busy: such a window, when it
// comes after idle ones, must not miss more than is allowed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "collector/policy/worth.hpp"

namespace isotherm::collector {

/// One thread.
class busy_windows {
 public:
  /// A window has ended, of `seconds`, in which so many objects were used and so many missed;
  /// `in_dram`: those of NEW and HOT.
  void record(std::uint64_t used, double misses, double seconds,
              const dram_uses& in_dram) noexcept {
    misses_ = objects_ > 0 ? misses_ : misses;
    objects_ -= (objects_ + kWindows - 1) / kWindows;  // to 0 at last
    if (used >= objects_) {
      objects_ = used;
      seconds_ = seconds;
    }
    if (used >= objects_ - objects_ / kNearlyShare) in_dram_ = in_dram;
    const double share = used > 0 ? static_cast<double>(used) / static_cast<double>(objects_) : 0;
    misses_ += (misses - misses_ * share) * kNewest;
    // Objects that the last window's end let go may have left while this one ran, which has seen
    // some of its misses at most.
    if (let_go_ > 0) misses_ = std::max(misses_, last_misses_ + let_go_);
    let_go_ = 0;
    last_misses_ = misses;
  }
  /// The window's end lets objects go that so many misses a window are expected of.
  void record_leaving(double misses) noexcept { let_go_ = misses; }
  /// Forgets the busiest window, as when worths mean other rates of use.
  void forget() noexcept {
    objects_ = 0;
    seconds_ = misses_ = 0;
    in_dram_ = {};
  }

  /// Objects used in the busiest; 0: none since it was forgotten.
  std::uint64_t objects() const noexcept { return objects_; }
  double seconds() const noexcept { return seconds_; }
  /// Returns the objects and uses of a window as busy as that, by worths of today.
  const dram_uses& in_dram() const noexcept { return in_dram_; }
  /// Returns the misses of such a window.
  double misses() const noexcept { return misses_; }

 private:
  /// After each window that is less busy, the busiest one counts for a 64th less.
  static constexpr std::uint64_t kWindows = 64;
  /// Weight of the last window in how many misses a busy one has.
  static constexpr double kNewest = 0.25;
  /// The newest window stands for the busiest when it has an eighth fewer uses at most: its worths
  /// are those of today.
  static constexpr std::uint64_t kNearlyShare = 8;

  std::uint64_t objects_ = 0;
  double seconds_ = 0, misses_ = 0;
  double last_misses_ = 0, let_go_ = 0;
  dram_uses in_dram_{};
};

}  // namespace isotherm::collector
