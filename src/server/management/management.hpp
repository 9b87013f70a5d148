// The interface through which ISOTHERM STATS|HEAPS|COLLECT|CONFIG reach the object collector.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collector/statistics.hpp"

namespace isotherm::server {

/// Implemented over the collector by the program, and by fakes in tests. Thread-safe.
class management {
 public:
  virtual ~management() = default;
  /// "track" or "on".
  virtual std::string mode() const = 0;
  virtual collector::window_statistics last_window() const = 0;
  /// Runs a window now; called outside of every scope.
  virtual collector::window_statistics collect() = 0;
  /// Returns the problem that keeps cold bytes in DRAM (no swap, a full disk), in one line; empty:
  /// none.
  virtual std::string problem() const = 0;
  /// Writes the problem to standard error if it has changed since it was written there last.
  /// Windows do so when they end; a disk that does not answer may hold them up, and is reported by
  /// the thread that finds that out.
  virtual void report_problem() = 0;
  /// True while commands that may take memory are to be refused: DRAM is above the target, and what
  /// is cold cannot leave it soon enough. Asked before each such command.
  virtual bool refuses_growth() const noexcept = 0;
  /// DRAM that the process may have, its control groups' limits included; 0: nothing limits it. A
  /// tenth of a millisecond.
  virtual std::uint64_t memory_target_bytes() const = 0;
  /// Number of objects that COLD had no room for, since the start.
  virtual std::uint64_t refused_cold_objects() const = 0;
  /// Sizes as they are now.
  virtual heap::per_kind<heap::usage> heaps() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> configuration() const = 0;
  /// Changes one parameter by its name.
  virtual base::result<void> configure(std::string_view name, std::string_view value) = 0;
};

}  // namespace isotherm::server
