// Clocks, in nanoseconds.
#pragma once

#include <cstdint>

namespace isotherm::os {

/// Time that never jumps; its zero is arbitrary. Advances while the process sleeps.
std::uint64_t monotonic_ns() noexcept;

/// Whole milliseconds of `ns` nanoseconds.
constexpr std::int64_t milliseconds(std::uint64_t ns) noexcept {
  return static_cast<std::int64_t>(ns / 1'000'000);
}

/// monotonic_ns() in milliseconds.
inline std::int64_t monotonic_ms() noexcept { return milliseconds(monotonic_ns()); }

/// monotonic_ns() in `timeout_us` microseconds; the end of time where that is beyond it.
std::uint64_t deadline_ns(std::uint64_t timeout_us) noexcept;

/// CPU time that the calling thread has used, user and system.
std::uint64_t thread_cpu_ns() noexcept;

/// CPU time that all threads of the process have used, also those that ended.
std::uint64_t process_cpu_ns() noexcept;

/// The calling thread sleeps for about so long; shorter when a signal's handler runs meanwhile.
void sleep_us(std::uint64_t microseconds) noexcept;

/// The calling thread's sleeps end to the nanosecond, not up to 50 us late so that wake-ups can be
/// gathered.
void end_sleeps_on_time() noexcept;

}  // namespace isotherm::os
