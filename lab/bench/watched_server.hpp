// A server that is asked for its memory while a driver loads it: isotherm serve tells of its heaps
// and windows by ISOTHERM STATS, a Redis of its resident set by INFO, a memcached of nothing.
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "lab/bench/in_process.hpp"
#include "tool/address.hpp"
#include "tool/redis_connection.hpp"

namespace isotherm::lab {

/// Not thread-safe.
class watched_server {
 public:
  static base::result<watched_server> connect(const tool::address& where);

  /// Whether it is isotherm serve.
  bool is_ours() const noexcept { return is_ours_; }
  /// Answers of ISOTHERM STATS. Requires: it is isotherm serve.
  base::result<tool::redis_connection::fields> stats();
  base::result<window_sample> sample();

 private:
  tool::redis_connection& connection();
  base::result<window_sample> redis_sample();

  std::optional<tool::redis_connection> connection_;  // absent: a memcached
  bool is_ours_ = false;
};

/// Drives a store, samples the server at the end of each window and at the end of the run.
base::result<workload::outcome> drive_watched(watched_server& server, const drive_function& drive,
                                              const time_left& left, const bench_plan& plan,
                                              window_recorder& windows);

}  // namespace isotherm::lab
