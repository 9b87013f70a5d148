// The processor's counters of misses in the TLB and in the last cache, where the system has them
// (perf_event_open(2)). Many virtual machines have none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace isotherm::lab {

/// An event of one thread. Movable, owns its descriptor.
class event_counter {
 public:
  /// Opens the event `config` of `type`, as perf_event_open(2) has them, for the calling thread.
  /// One that cannot be had has problem() and counts nothing.
  event_counter(std::uint32_t type, std::uint64_t config) noexcept;
  event_counter(event_counter&& other) noexcept;
  event_counter& operator=(event_counter&& other) = delete;
  ~event_counter();

  bool counts() const noexcept { return file_ >= 0; }
  /// The errno value of the failed opening; 0 for an event that counts.
  int problem() const noexcept { return problem_; }

  /// Begins to count. No effect without the event.
  void start() noexcept;
  /// Stops, and returns the number of events since start(), scaled up by the time in which another
  /// event had the processor's counter; nullopt without the event.
  std::optional<double> stop() noexcept;

 private:
  struct reading {
    std::uint64_t events = 0, enabled_ns = 0, running_ns = 0;
  };
  reading read_now() const noexcept;

  reading at_start_;
  int file_ = -1;
  int problem_ = 0;
};

/// Misses of reads, in user mode.
struct read_misses {
  std::optional<double> tlb, last_cache;
};

/// Both events. For one thread.
class miss_counters {
 public:
  miss_counters() noexcept;

  void start() noexcept;
  read_misses stop() noexcept;
  /// One line that says why misses in the TLB are not counted; "" where they are.
  std::string why_absent() const;

 private:
  event_counter tlb_, last_cache_;
};

}  // namespace isotherm::lab
