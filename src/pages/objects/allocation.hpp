// Allocations of the observed program on their way to the tool. The library inside the program
// (preload.cpp) makes a system call that no kernel has. The plugin inside QEMU reads it, adds the
// call stack and the time, and appends an event to a log in memory that it shares with the tool:
// the program's own memory holds nothing of all this. This header needs no library.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::pages {

/// Number of that system call. The kernel and QEMU refuse it (ENOSYS) and do nothing else.
inline constexpr std::int64_t kAllocationCall = 0x69736f;

/// Its first argument.
enum class allocation_message : std::uint64_t {
  attach,  ///< 2: address of a 32-bit word, which becomes 1 if the program is observed
  made,    ///< 2: address, 3: bytes asked for, 4: usable bytes, 5: where the return address lies
  gone     ///< 2: address of the object, which is about to be freed
};

/// Return addresses that an event keeps, innermost first.
inline constexpr unsigned kFrames = 8;

/// An object was allocated, or is about to be freed.
struct allocation_event {
  std::uint32_t is_made;      ///< 0: freed; only `address` and `time_ns` are set then
  std::uint32_t frame_count;  ///< known frames of the allocation's call stack
  std::uint64_t address;
  std::uint64_t asked;    ///< bytes
  std::uint64_t usable;   ///< bytes; at least `asked`
  std::uint64_t time_ns;  ///< CLOCK_MONOTONIC
  std::uint64_t frames[kFrames];
};

/// Events between the plugin, which writes under a lock of its own, and the tool, one reader. All
/// begins as zeros.
struct allocation_log {
  static constexpr std::uint64_t kEvents = 1 << 18;
  base::atomic<std::uint32_t> attached;              ///< 1: the program has the library
  base::apart<base::atomic<std::uint64_t>> written;  ///< events since the start
  base::apart<base::atomic<std::uint64_t>> read;
  allocation_event events[kEvents];  ///< event N lies at N % kEvents
};

/// Appends an event. Requires: the log has room, and no other thread appends.
inline void append(allocation_log& log, const allocation_event& event) noexcept {
  const std::uint64_t number = log.written.value.load_relaxed();
  log.events[number % allocation_log::kEvents] = event;
  log.written.value.store_release(number + 1);  // pairs with the acquire in object_table::take()
}

inline bool is_full(const allocation_log& log) noexcept {
  // Acquire: pairs with the release in object_table::take(), which has copied the event by then.
  return log.written.value.load_relaxed() - log.read.value.load_acquire() ==
         allocation_log::kEvents;
}

}  // namespace isotherm::pages
