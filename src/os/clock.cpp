#include "os/clock.hpp"

#include <sys/prctl.h>

#include <ctime>

namespace isotherm::os {
namespace {

std::uint64_t read_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);  // fails only for an unknown clock, and these are in every Linux
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t monotonic_ns() noexcept { return read_ns(CLOCK_MONOTONIC); }
std::uint64_t deadline_ns(std::uint64_t timeout_us) noexcept {
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  const std::uint64_t now = monotonic_ns();
  return timeout_us < (kNever - now) / 1000 ? now + timeout_us * 1000 : kNever;
}
std::uint64_t thread_cpu_ns() noexcept { return read_ns(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t process_cpu_ns() noexcept { return read_ns(CLOCK_PROCESS_CPUTIME_ID); }

void sleep_us(std::uint64_t microseconds) noexcept {
  const timespec wanted{static_cast<std::time_t>(microseconds / 1'000'000),
                        static_cast<long>(microseconds % 1'000'000 * 1000)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, nullptr);
}

void end_sleeps_on_time() noexcept { prctl(PR_SET_TIMERSLACK, 1); }

}  // namespace isotherm::os
