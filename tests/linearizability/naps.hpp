// Forced pauses: a signal whose handler naps stops a thread at whatever instruction it has come to,
// amid an operation or, in the collector, between the copy of an object and its commit. Meanwhile
// the others go on.
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/random.hpp"

namespace isotherm::naps {

inline constexpr int kSignal = SIGUSR1;

inline std::atomic<std::uint64_t> taken{0};  ///< naps begun; the next one's length follows from it
inline std::atomic<std::uint64_t> seed{0};
inline std::atomic<std::uint64_t> amid_operations{0};  ///< naps of threads with is_amid_operation
inline thread_local volatile sig_atomic_t is_amid_operation = 0;
/// Set while a signal for the thread is on its way, or the thread naps; may be null.
inline thread_local std::atomic<bool>* volatile is_told = nullptr;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "used in a signal handler");

/// Not a wait for something: the disturbance that the histories are recorded under, and no answer
/// depends on its length. 0.1 to 0.3 ms, and now and then up to 5: long enough for others to go
/// through whole splits.
inline void nap(int /*signal*/) noexcept {
  const int kept = errno;
  const std::uint64_t chance = base::mix64(seed.load() + taken.fetch_add(1));
  const std::uint64_t most_ns = chance % 16 == 0 ? 4'900'000 : 200'000;
  const timespec length{0, static_cast<long>(100'000 + (chance >> 8) % most_ns)};
  if (is_amid_operation != 0) amid_operations.fetch_add(1);
  ::nanosleep(&length, nullptr);  // the pause is what is made here; nothing is waited for
  if (std::atomic<bool>* const told = is_told) told->store(false);
  errno = kept;
}

/// False when the handler could not be installed. Without SA_RESTART nothing would tell a nap from
/// a failure of what it interrupted.
inline bool install(std::uint64_t chosen_seed) noexcept {
  seed.store(chosen_seed);
  struct sigaction action{};
  action.sa_handler = &nap;
  action.sa_flags = SA_RESTART;
  return ::sigaction(kSignal, &action, nullptr) == 0;
}

/// Between two signals, for the thread that sends them: how often threads are disturbed.
inline void wait_a_little() noexcept {
  const timespec length{0, 100'000};
  ::nanosleep(&length, nullptr);  // a rate, not a wait: no check depends on what happens meanwhile
}

}  // namespace isotherm::naps
