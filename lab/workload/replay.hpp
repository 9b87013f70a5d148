// Repeats the requests of a run, without a store, to see how many of them an LRU cache of records
// would have missed. It runs after the measurement, from the run's own seed, so that nothing is
// recorded, and nothing slowed, while it is measured.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lab/workload/driver.hpp"
#include "lab/workload/lru.hpp"

namespace isotherm::workload {

/// The requests of threads that took turns, each at its own pace. At the start the cache holds the
/// records in the order in which they were loaded. A read, an update and a read-modify-write are
/// uses; an insert is one that never misses. Scans are not repeated: no plan with scans.
class replay {
 public:
  /// Repeats a run that did `done` requests in each thread in all. If they are more than `most`
  /// together, the last ones are repeated: 100 million take five to ten seconds.
  replay(const plan& chosen, std::span<const std::uint64_t> done, std::uint64_t most = 100'000'000);
  ~replay();
  replay(const replay&) = delete;  // the streams refer to its chooser
  replay& operator=(const replay&) = delete;

  /// Goes on until each thread has sent as many as `done` says; what the cache saw on the way.
  miss_curve advance(std::span<const std::uint64_t> done);

  /// 1 in so many of the loaded records is followed.
  double one_in() const noexcept { return one_in_; }

 private:
  class thread;
  void use(const request& next, miss_curve& seen);

  bool is_followed(std::uint64_t record) const noexcept;

  key_chooser chooser_;
  std::uint64_t followed_;  ///< those whose hash has no bit of this
  double one_in_;
  std::uint64_t records_;  ///< loaded, and inserted so far
  use_order order_;
  std::vector<thread> threads_;
};

}  // namespace isotherm::workload
