// A window's end under way: what its phases share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "collector/memory/memory_room.hpp"
#include "collector/options.hpp"
#include "collector/statistics.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

inline double seconds_since(std::uint64_t begin_ns) {
  constexpr double kSecond = 1e9;
  return static_cast<double>(os::monotonic_ns() - begin_ns) / kSecond;
}

/// Leaves the processor to other threads in proportion to the work of this one.
class pace {
 public:
  /// Returns whether the thread has worked for as long as it works at a time, since its last rest.
  bool is_turn_over() const noexcept { return worked_ns() >= kTurnNs; }
  /// How long to rest after that work.
  std::chrono::nanoseconds due_rest() const noexcept {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(worked_ns()) *
                                                              (1 - kPacedShare) / kPacedShare));
  }
  void begin_turn() noexcept { begin_cpu_ns_ = os::thread_cpu_ns(); }

 private:
  /// The share of a processor that the thread takes, while there is room in memory.
  static constexpr double kPacedShare = 0.25;
  static constexpr std::uint64_t kTurnNs = 2'000'000;

  std::uint64_t worked_ns() const noexcept { return os::thread_cpu_ns() - begin_cpu_ns_; }

  std::uint64_t begin_cpu_ns_ = os::thread_cpu_ns();
};

/// Adds the processor time that the thread takes in its life to a sum of seconds.
class cpu_timer {
 public:
  explicit cpu_timer(double& sum) noexcept : sum_(sum) {}
  ~cpu_timer() { sum_ += static_cast<double>(os::thread_cpu_ns() - begin_ns_) / 1e9; }
  cpu_timer(const cpu_timer&) = delete;
  cpu_timer& operator=(const cpu_timer&) = delete;

 private:
  double& sum_;
  const std::uint64_t begin_ns_ = os::thread_cpu_ns();
};

/// A window's end, or the work between two windows.
struct window {
  options chosen;           ///< when it began
  memory_room& room;        ///< as observed last
  window_statistics& seen;  ///< what it counts
  std::uint64_t begin_ns = os::monotonic_ns();
  std::uint64_t begin_cpu_ns = os::thread_cpu_ns();
  pace turns{};
  std::uint64_t moved_since_page_out = 0;  ///< bytes that went to COLD, and their cost
};

}  // namespace isotherm::collector
