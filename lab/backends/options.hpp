// The flags of `isotherm bench backends`, as given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/backends/backend.hpp"
#include "lab/bench/options.hpp"

namespace isotherm::lab {

/// The flags, as given; the defaults are the documented ones.
struct backends_options {
  std::vector<std::string> backends = {"none", "kswapd", "cgroup", "tmo", "hinted", "zram", "log"};
  /// INDEX:WORKLOAD; several joined by '+' run side by side.
  std::vector<std::string> stores = {"masstree:c", "hash-pugh:c"};
  std::vector<std::string> manage = {"off", "on"};
  /// Options of each store; index, workload, warm-up, management and backing of COLD follow from
  /// the above.
  bench_options store;
  double memory = 35;  ///< DRAM that the stores are to have, in per cent of the records' bytes
  double settle = 15;  ///< seconds of requests before the backend begins
  double adapt = 20;   ///< seconds of requests under the backend before the measured time
  unsigned rounds = 1;
  swap_place swap = swap_place::file;
  std::string folder = "/var/tmp";  ///< of the swap file and of COLD's
  double pressure = 0.1;
  bool whole_machine = false;
  std::string json;  ///< empty: a table; "-": standard output; else a file
};

/// One run: the stores that serve side by side under a backend.
struct backends_run {
  const backend_kind* kind = nullptr;
  std::string stores;  ///< as given
  std::string manage;
  std::vector<bench_plan> plans;   ///< of each store
  std::uint64_t record_bytes = 0;  ///< keys and values of all stores
  backend_options chosen;
};

/// Returns the options for the store of a run's words, defaults included.
backends_options default_backends_options();

/// Returns the runs of a round, for each stores and backend management off and on one after the
/// other, whose requests follow from `seed`. Errors name the flag.
base::result<std::vector<backends_run>> understand(const backends_options& asked,
                                                   std::uint64_t seed);

}  // namespace isotherm::lab
