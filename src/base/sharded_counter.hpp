// A counter that many threads change and few read.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::base {

/// A counter in 16 shards on cache lines of their own, so that threads do not contend for one line.
/// Thread-safe; takes 2 KiB. All operations are relaxed: the number publishes no other data.
class sharded_counter {
 public:
  /// Adds `n`. Returns the new value of the calling thread's shard, by which the caller can do some
  /// work once every so many adds.
  std::int64_t add(std::int64_t n) noexcept {
    return shards_[shard()].value.fetch_add_relaxed(n) + n;
  }
  /// The total: exact while no thread adds; never below zero.
  std::uint64_t sum() const noexcept {
    std::int64_t total = 0;
    for (const auto& each : shards_) total += each.value.load_relaxed();
    return total > 0 ? static_cast<std::uint64_t>(total) : 0;
  }
  /// Sets the total to zero. Concurrent add()s may be lost.
  void reset() noexcept {
    for (auto& each : shards_) each.value.store_relaxed(0);
  }

 private:
  static constexpr unsigned kShards = 16;
  static unsigned shard() noexcept {
    static constinit atomic<unsigned> threads{0};
    static thread_local const unsigned mine = threads.fetch_add_relaxed(1) % kShards;
    return mine;
  }
  apart<atomic<std::int64_t>> shards_[kShards] = {};
};

}  // namespace isotherm::base
