// Holds back threads that make the process grow, so that DRAM stays at its target while records
// leave: they are slowed when they come near it, and above it commands that grow are refused.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/atomic.hpp"
#include "collector/memory/memory_room.hpp"

namespace isotherm::collector {

/// follow() and release(): one thread at a time.
class growth_limit {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Some times a second, with the room there is now. A thread that is slowed waits for at most 240
  /// ms for what this allows (heap/brake.hpp).
  void follow(const memory_room& now, time_point time = std::chrono::steady_clock::now());
  /// Nobody is held back any more.
  void release() noexcept;
  /// Whether DRAM exceeds its target by a sixteenth and has not fallen for a second, or did so and
  /// has not been below the target since. A target that was set too low for what there is gives
  /// records time to leave. Any thread.
  bool refuses() const noexcept { return refuses_.load_relaxed(); }

 private:
  std::uint64_t least_bytes_ = ~std::uint64_t{0};  // of DRAM, since it exceeded its target
  time_point least_at_;
  base::atomic<bool> refuses_{false};
};

/// Returns the bytes by which threads may let NEW and HOT grow until the next look: half of the
/// room, since other memory grows with them. heap::kUnlimitedGrowth where there is no target.
std::uint64_t allowed_growth(const memory_room& now) noexcept;

}  // namespace isotherm::collector
