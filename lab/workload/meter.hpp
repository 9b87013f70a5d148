// The work of a run's threads so far, readable while they run: the difference of two looks, at the
// ends of two windows, is a window's latencies and misses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/atomic.hpp"
#include "base/histogram.hpp"
#include "lab/workload/target.hpp"
#include "lab/workload/ycsb.hpp"

namespace isotherm::workload {

/// Latencies in nanoseconds, up to 73 minutes, with three significant digits.
using live_latencies = base::live_histogram<11, 42>;
using latencies = live_latencies::read_histogram;

/// Sums over requests.
struct tally {
  std::array<std::uint64_t, kOperations> by_kind{};
  std::uint64_t missing = 0;
  std::uint64_t corrupt = 0;
  std::uint64_t waited = 0;  ///< requests whose thread waited for a disk or for swap
  std::uint64_t misses = 0;  ///< objects and pages (major faults) that the threads waited for
  latencies latency_ns;

  std::uint64_t operations() const noexcept { return latency_ns.count(); }
  void add(const tally& other) noexcept;
  /// Leaves what came after `earlier`, a look at the same threads.
  void subtract(const tally& earlier) noexcept;
};

/// The meter of one thread, which alone writes; any thread reads.
class alignas(base::kNoSharingBytes) meter {
 public:
  void count(operation kind, answer how, std::uint64_t latency_ns) noexcept {
    latency_ns_.record(latency_ns);
    by_kind_[static_cast<std::size_t>(kind)].add_as_only_writer(1);
    if (how == answer::missing) missing_.add_as_only_writer(1);
    if (how == answer::corrupt) corrupt_.add_as_only_writer(1);
  }
  void count_wait() noexcept { waited_.add_as_only_writer(1); }
  void add_misses(std::uint64_t misses) noexcept { misses_.add_as_only_writer(misses); }

  std::uint64_t operations() const noexcept { return latency_ns_.count(); }
  tally read() const;

 private:
  using counter = base::atomic<std::uint64_t>;

  std::array<counter, kOperations> by_kind_{};
  counter missing_{0}, corrupt_{0}, waited_{0}, misses_{0};
  live_latencies latency_ns_;
};

/// A run's threads.
class meters {
 public:
  explicit meters(unsigned threads) : each_(threads) {}

  meter& operator[](unsigned thread) noexcept { return each_[thread]; }
  const meter& operator[](unsigned thread) const noexcept { return each_[thread]; }
  tally read() const;
  /// Requests of each thread that are done.
  std::vector<std::uint64_t> done() const;
  std::uint64_t operations() const noexcept;

 private:
  std::vector<meter> each_;
};

}  // namespace isotherm::workload
