// Freed room of NEW or HOT that waits for the next object of exactly its size: a store whose values
// are replaced all the time would otherwise append a window's worth of them between two visits of
// the collector. Kept holes count as live in their extents, so that these are not given back under
// them; hence the bound on their bytes, and flush() after every batch of the collector's moves.
//
// A hole's first word links to the next of its bin; a bin holds holes of one size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"
#include "heap/packed/extent.hpp"
#include "heap/poison.hpp"

namespace isotherm::heap {

/// Thread-safe.
class hole_cache {
 public:
  static constexpr std::uint32_t kShards = 16;
  /// A shard. Frees come in bursts as long as the longest scope: milliseconds of updates.
  static constexpr std::size_t kBytesMax = std::size_t{8} << 20;

  /// Takes over the freed object of `units`, and poisons it; false when there is no room for it, or
  /// it is not worth it. `is_worth_it` is asked under the lock that flush() takes too: an object
  /// that is not worth it before a flush is not kept after it.
  template <class IsWorthIt>
  bool keep(void* object, std::size_t units, std::uint32_t shard, IsWorthIt is_worth_it) noexcept;
  /// Room of exactly `units` that keep() took, still poisoned; else null. Its header says that it
  /// is live, from under the lock that flush() takes too: a thread that looks for dead pages after
  /// a flush sees it as taken, even if nothing has been written there yet (dead_pages.cpp).
  void* take(std::size_t units, std::uint32_t shard) noexcept;
  /// Gives up all holes: `release(object, units)` for each, outside of the shards' locks. Returns
  /// when no other thread's flush is under way either: none reads a hole's link from then on.
  template <class Release>
  void flush(Release release) noexcept;

  /// Marks poisoned room in its header as live or as freed.
  static void mark(void* hole, std::uint32_t as) noexcept;

  void lock_for_fork();
  void unlock_after_fork();

 private:
  static constexpr std::size_t kBins = 64;
  struct bin {
    std::size_t units = 0;
    void* first = nullptr;
  };
  struct alignas(base::kNoSharingBytes) shard {
    base::spin_lock lock;
    std::size_t bytes = 0;
    std::array<bin, kBins> bins{};
  };

  static void* next_of(void* hole) noexcept;

  std::mutex flushing_;  // before a shard's lock
  std::array<shard, kShards> shards_;
};

template <class IsWorthIt>
bool hole_cache::keep(void* object, std::size_t units, std::uint32_t shard_number,
                      IsWorthIt is_worth_it) noexcept {
  shard& mine = shards_[shard_number % kShards];
  const std::lock_guard held(mine.lock);
  if (!is_worth_it()) return false;
  const std::size_t bytes = units * kUnitBytes;
  bin& holes = mine.bins[units % kBins];
  if (mine.bytes + bytes > kBytesMax || (holes.first && holes.units != units)) return false;
  *static_cast<void**>(object) = holes.first;
  // Before anyone can take it: whoever does makes it readable again.
  poison(header_of(object), bytes);
  holes = {units, object};
  mine.bytes += bytes;
  return true;
}

template <class Release>
void hole_cache::flush(Release release) noexcept {
  const std::lock_guard alone(flushing_);
  for (shard& each : shards_) {
    std::array<bin, kBins> taken{};
    {
      const std::lock_guard held(each.lock);
      taken.swap(each.bins);
      each.bytes = 0;
    }
    for (bin& holes : taken) {
      while (void* hole = holes.first) {
        holes.first = next_of(hole);
        release(hole, holes.units);
      }
    }
  }
}

}  // namespace isotherm::heap
