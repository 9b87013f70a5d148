// DAMON, the kernel's monitor of accesses, by its files of /sys. It samples one page of each
// region, and cuts and joins regions by what it has seen. Its schemes act on regions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/backends/system/system_changes.hpp"

namespace isotherm::lab {

/// Addresses, in bytes.
struct address_range {
  std::uint64_t begin, end;
};

/// An action of the monitor on regions, each time when its samples are added up.
struct damon_scheme {
  const char* action;                ///< "pageout", "migrate_hot", "migrate_cold"
  std::optional<unsigned> target;    ///< the node to migrate to
  unsigned least_percent = 0;        ///< of samples that found the region accessed
  unsigned most_percent = 100;       ///< of samples
  unsigned least_age = 0;            ///< sums of samples in which it was about as hot
  std::uint64_t bytes_a_second = 0;  ///< at most; 0: no bound
};

/// One thread of the monitor.
struct damon_monitor {
  const char* operations = "vaddr";   ///< "vaddr" (a process), "fvaddr" (ranges of it), "paddr"
  pid_t process = 0;                  ///< 0: none, of "paddr"
  std::vector<address_range> ranges;  ///< empty: all of the process
  unsigned sample_ms = 200;
  unsigned samples = 10;  ///< that are added up
  unsigned least_regions = 10;
  unsigned most_regions = 1000;
  std::vector<damon_scheme> schemes;
};

/// The monitors of a run. At most one object at a time. Thread: one.
class damon {
 public:
  /// Starts the monitors; they end with the changes. Errors: it needs root, the kernel has no
  /// DAMON, or another program uses it.
  static base::result<damon> start(system_changes& changes, std::span<const damon_monitor> wanted);

  /// Returns the bytes that the schemes of a monitor were applied to so far, in their order.
  std::vector<std::uint64_t> applied_bytes(unsigned monitor) const;
  /// Ends the samples. Idempotent.
  void stop() const;

 private:
  explicit damon(std::vector<std::size_t> schemes) : schemes_(std::move(schemes)) {}

  std::vector<std::size_t> schemes_;  // of each monitor
};

/// Returns why DAMON cannot be used here and how to change that; empty: it can.
std::string why_no_damon();

/// Ends all monitors that the files of /sys started.
base::result<void> end_damon(const std::string& folder);

}  // namespace isotherm::lab
