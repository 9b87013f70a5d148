// The options that the user gave to `isotherm bench ycsb`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "collector/options.hpp"
#include "lab/workload/driver.hpp"
#include "lab/workload/record.hpp"

namespace isotherm::lab {

/// The flags, as given; the defaults are the documented ones.
struct bench_options {
  std::string index = "hash-pugh";
  std::string workload = "c";
  std::string mix;           ///< shares of operations; empty: the workload's own
  std::string distribution;  ///< empty: the workload's own
  std::uint64_t keys = 1'000'000;
  std::size_t key_size = 30;
  std::size_t value_size = 1024;                ///< the greatest
  std::optional<std::size_t> least_value_size;  ///< of a range
  std::string value_sizes;  ///< empty: constant for one size, uniform for a range
  double ttl = 0;           ///< seconds until a value that was written expires; 0: never
  double theta = 0.99;
  double hotspot_keys = 0.2;
  double hotspot_accesses = 0.8;
  double exponential_keys = 0.8571428571;
  double exponential_accesses = 0.95;
  unsigned threads = 2;
  double rate = 0;
  double seconds = 60;
  double warmup = 0;
  std::string manage = "on";
  collector::options collector{.hint = heap::hint::none};  ///< `manage` follows from the flag
  std::string cold_backing = "anon";
  std::optional<unsigned> hot_node;  ///< memory node of NEW, HOT and the index
  bool huge_pages = false;
  std::string connect;                ///< empty: in process
  bool no_load = false;               ///< the server holds the records already
  std::optional<std::uint64_t> seed;  ///< absent: another one each run
  std::string used;                   ///< file for the keys used in the last windows; empty: none
  std::string json;                   ///< empty: a table; "-": standard output; else a file
};

/// The options understood and checked.
struct bench_plan {
  bench_options asked;
  workload::plan load;
  workload::record_format format;
};

/// Seconds until a run of `plan` ends, warm-up included.
double seconds_left(const bench_plan& plan, const workload::progress& now) noexcept;

/// For a run whose user gave no seed; small enough to be typed again.
std::uint64_t drawn_seed();

/// Reads the value of --value-size, "SIZE" or "LEAST..GREATEST", into `asked`.
base::result<void> read_value_size(const std::string& text, bench_options& asked);

/// Checks everything that needs no server and no index. Errors name the flag.
base::result<bench_plan> understand(const bench_options& asked);

}  // namespace isotherm::lab
