// How often each command was called, how long it took, and how often it was refused or failed: what
// INFO commandstats, INFO latencystats and LATENCY HISTOGRAM tell.
//
// A command takes from the moment it is first run until its reply is written into the client's
// buffer: with what it waits for, which is the disk of COLD as a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "server/timing/reply_times.hpp"

namespace isotherm::server {

/// Counts of one command, since the start or the last CONFIG RESETSTAT.
struct command_counts {
  std::uint64_t failed = 0;    ///< answered with an error
  std::uint64_t rejected = 0;  ///< refused before they ran, for want of a password or of memory
  reply_counts times;

  std::uint64_t calls() const noexcept { return times.count(); }
  bool is_any() const noexcept { return failed + rejected + calls() > 0; }
  command_counts& operator+=(const command_counts& other) noexcept;
  /// `earlier`: the same counts at an earlier moment.
  command_counts& operator-=(const command_counts& earlier) noexcept;
};

/// Counts of one event loop: its thread alone writes, any thread reads. Relaxed, as in
/// base::live_histogram.
class command_times {
 public:
  explicit command_times(std::size_t commands) : rows_(commands) {}
  ~command_times();
  command_times(const command_times&) = delete;
  command_times& operator=(const command_times&) = delete;

  /// `which` is below the number of commands.
  void record(std::size_t which, std::uint64_t ns) noexcept;
  void count_failed(std::size_t which) noexcept { rows_[which].failed.add_as_only_writer(1); }
  void count_rejected(std::size_t which) noexcept { rows_[which].rejected.add_as_only_writer(1); }

  command_counts of(std::size_t which) const noexcept;

 private:
  struct row {
    /// Made by the first record(). Release by the loop's thread, acquire by those who read: the
    /// counts are zero before they are seen.
    base::atomic<reply_times*> times{nullptr};
    base::atomic<std::uint64_t> failed{0}, rejected{0};
  };

  std::vector<row> rows_;
};

}  // namespace isotherm::server
