// How much DRAM the process has, and may have.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "collector/options.hpp"
#include "heap/object.hpp"
#include "heap/usage.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::collector {

/// Bytes of a part of the heaps that is moved together, and moved between two page-outs of what is
/// new in COLD: what is in memory twice.
inline constexpr std::uint64_t kMovedTogether = std::uint64_t{32} << 20;
/// Less with a small target (0: none): a 32nd of it, but no less than an extent of a MiB.
constexpr std::uint64_t moved_together(std::uint64_t target_bytes) noexcept {
  constexpr std::uint64_t kShare = 32;
  return target_bytes == 0
             ? kMovedTogether
             : std::clamp(target_bytes / kShare, kMovedTogether / kShare, kMovedTogether);
}

/// One part in so many of the target is left to writers: objects that stay in DRAM at a window's
/// end do not take it, nor do objects that uses bring back from COLD. A write must find room at
/// once, or it is refused.
inline constexpr std::uint64_t kWritersShare = 16;

struct memory_room {
  static constexpr std::uint64_t kExtent = heap::kTogetherBytes;

  /// The resident set, less what the allocator gives back by itself: data does not leave to make
  /// room for that.
  std::uint64_t dram_bytes;
  std::uint64_t target_bytes;  ///< what the process is held to; 0: nothing limits it
  /// The bytes that the options and the control groups leave the process; 0: they limit nothing.
  std::uint64_t limit_bytes = target_bytes;
  std::chrono::steady_clock::time_point observed_at{};

  bool is_short() const noexcept { return short_bytes() > 0; }
  /// Returns whether less than a 32nd of the target is left, or than two extents: objects have to
  /// leave.
  bool is_low() const noexcept { return lacks(std::max(target_bytes / 32, 2 * kExtent)); }
  /// Returns whether a 16th is left, as much as a window's end leaves: writers find room.
  bool is_enough() const noexcept {
    return !lacks(std::max(target_bytes / kWritersShare, 4 * kExtent));
  }
  /// By which DRAM exceeds the target.
  std::uint64_t short_bytes() const noexcept {
    return target_bytes != 0 ? dram_bytes - std::min(dram_bytes, target_bytes) : 0;
  }
  /// Returns whether less than `bytes` are left.
  bool lacks(std::uint64_t bytes) const noexcept {
    return target_bytes != 0 && dram_bytes + bytes > target_bytes;
  }
  /// Returns the bytes that may be promoted from COLD at once: half of those that are left, since
  /// other uses of memory grow meanwhile.
  std::uint64_t promotable_bytes() const noexcept {
    if (target_bytes == 0) return ~std::uint64_t{0};
    return (target_bytes - std::min(target_bytes, dram_bytes)) / 2;
  }
  /// Returns the bytes that uses, which do not wait for room, may bring back from COLD at once. The
  /// writers' share is left out: the uses of a read-mostly load take all that they may.
  std::uint64_t returnable_bytes() const noexcept {
    if (limit_bytes == 0) return ~std::uint64_t{0};
    const std::uint64_t most = limit_bytes - limit_bytes / kWritersShare;
    return (most - std::min(most, dram_bytes)) / 2;
  }
};

/// How often memory is looked at between windows.
inline constexpr std::chrono::milliseconds kLookEvery{100};

/// Objects, their bytes and the extents of NEW and HOT together.
heap::usage warm_memory();

/// The target is the least of `asked_bytes` (0: none) and what the control groups leave this
/// process less a margin for what is not counted here (page tables, sockets). The groups set no
/// target where COLD is direct and they count its memory like DRAM: on a memory node and in tmpfs,
/// not behind DAX. Reads some files of /proc: a tenth of a millisecond.
memory_room read_memory_room(std::uint64_t asked_bytes);

/// Refuses what check() does, and a memory target where COLD cannot leave DRAM: threads that
/// allocate would wait for room that never comes.
base::result<void> check_on_this_machine(const options& chosen);

/// Whether a collector with these options holds the process to a target.
bool holds_a_target(const options& chosen) noexcept;
/// Returns the target that such a collector holds the process to now (read_memory_room()), or 0.
std::uint64_t target_now(const options& chosen);

/// The pure part. `group_room`: what the control groups leave, file pages counted as free; nullopt:
/// they have no limit. `resident`: the resident set, of which the allocator keeps `free_bytes` for
/// later. Within a control group these count, since the group's limit is never to be met.
memory_room memory_room_of(std::uint64_t asked_bytes, const os::resident_set& resident,
                           std::uint64_t free_bytes, std::optional<std::uint64_t> group_room);

}  // namespace isotherm::collector
