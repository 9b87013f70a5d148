// Statistics of COLD: the counters of its reads and the sizes of its file, snapshots of both, and
// the tables that name each figure. ISOTHERM STATS, INFO and the live page go through the tables.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/atomic.hpp"
#include "base/figure.hpp"

namespace isotherm::heap {

/// A snapshot of the counters, since the process began.
struct cold_read_statistics {
  std::uint64_t misses = 0;           ///< objects that were asked for
  std::uint64_t reads = 0;            ///< reads that ended, without cancelled ones
  std::uint64_t shared_reads = 0;     ///< objects whose pages were being read already
  std::uint64_t failed_reads = 0;     ///< reads that ended with an error, without cancelled ones
  std::uint64_t read_bytes = 0;       ///< bytes of the pages that were read
  std::uint64_t requested_bytes = 0;  ///< bytes of the objects that these pages were read for
  std::uint64_t under_way = 0;        ///< reads that wait for the disk or for their turn now
  std::uint64_t unanswered = 0;       ///< reads that were given up and are not answered until now
  std::uint64_t wait_us = 0;          ///< sum of the times in `waits`, microseconds
  /// Reads by the time from being asked for to their end: [b] of 2^b .. 2^(b+1) - 1 microseconds.
  static constexpr std::size_t kWaits = 32;
  std::array<std::uint64_t, kWaits> waits{};
};
/// Returns the counters as they are now. Thread: any.
cold_read_statistics cold_reads() noexcept;

/// The counters behind cold_reads(). All are relaxed and pair with nothing: each counts for itself,
/// and no other memory is read because of its value. Thread: any.
struct cold_read_counters {
  base::atomic<std::uint64_t> misses{0}, reads{0}, shared_reads{0}, failed_reads{0}, read_bytes{0},
      requested_bytes{0}, under_way{0}, unanswered{0}, wait_us{0}, lost{0};
  std::array<base::atomic<std::uint64_t>, cold_read_statistics::kWaits> waits{};

  /// Counts the end of a read of so many bytes that was asked for at `asked`, with its error or 0.
  /// A cancelled read only stops being under way.
  void count_end(std::size_t bytes, int error,
                 std::chrono::steady_clock::time_point asked) noexcept;
};
extern constinit cold_read_counters cold_read_counts;

/// Counts a miss that the calling thread waits for.
void count_waited_miss() noexcept;
/// Returns the misses that the calling thread has waited for since it began.
std::uint64_t thread_waited_misses() noexcept;

/// Counts an object that could not be read.
void count_lost_read() noexcept;
/// Returns how often an object could not be read, since start. Thread: any.
std::uint64_t lost_reads() noexcept;

std::span<const base::figure_of<cold_read_statistics>> cold_statistic_table() noexcept;

/// A snapshot of a logged COLD; all are 0 of a mapped one.
struct cold_file_statistics {
  std::uint64_t written_bytes = 0;  ///< bytes written to the file since start
  std::uint64_t file_bytes = 0;     ///< bytes of the extents that are in the file
  std::uint64_t memory_bytes = 0;   ///< bytes of the extents that are not written yet
};
/// Returns the sizes as they are now. Configures with the defaults if nothing has. Thread: any.
cold_file_statistics cold_file() noexcept;

std::span<const base::figure_of<cold_file_statistics>> cold_file_table() noexcept;

}  // namespace isotherm::heap
