// Slows threads that load faster than records can leave DRAM: whoever needs another extent of NEW
// or HOT waits first. The collector sets it (upkeep.hpp), and its own allocations do not wait.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::heap {

/// Thread-safe; all relaxed: a new rate may take effect an extent later.
class brake {
 public:
  /// The longest single wait, whatever the rate and the size of the object.
  static constexpr std::uint64_t kWaitUsMax = 20'000;

  void set(std::uint32_t microseconds_per_extent) noexcept {
    us_per_extent_.store_relaxed(microseconds_per_extent);
  }
  /// Before `count` extents are opened. The caller holds no lock.
  void wait(std::size_t count) noexcept;

  std::uint64_t waits() const noexcept { return waits_.load_relaxed(); }
  std::uint64_t waited_us() const noexcept { return waited_us_.load_relaxed(); }

 private:
  base::atomic<std::uint32_t> us_per_extent_{0};
  base::atomic<std::uint64_t> waits_{0};
  base::atomic<std::uint64_t> waited_us_{0};
};

/// The process's, also before its heaps are made.
extern constinit brake loading_brake;

}  // namespace isotherm::heap
