// The kernel's attributes of how a thread is to be scheduled.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

namespace isotherm::os {

/// sched_setattr(2)'s argument in its first version. Some versions of the kernel's own header for
/// it cannot be included beside sched.h.
struct scheduling_attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  ///< of SCHED_OTHER: length of its slices; 0 before Linux 6.12
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};
static_assert(sizeof(scheduling_attributes) == 48);

/// Reads those of a thread, 0 for the calling one. All 0 where the system forbids to ask.
inline scheduling_attributes read_scheduling(pid_t thread) noexcept {
  constexpr unsigned kNoFlags = 0;
  scheduling_attributes found{};
  if (::syscall(SYS_sched_getattr, thread, &found, sizeof found, kNoFlags) != 0) return {};
  return found;
}

}  // namespace isotherm::os
