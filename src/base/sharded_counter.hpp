// A number that many threads change and few read.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::base {

/// Spread over lines so that threads do not wait for each other's. Thread-safe; takes 2 KiB. All
/// relaxed: a number alone, by which nobody learns of anything else that another thread wrote.
class sharded_counter {
 public:
  /// Returns what the calling thread's shard has come to: a number that grows with each add of this
  /// thread, for work that is to be done now and then.
  std::int64_t add(std::int64_t n) noexcept {
    return shards_[shard()].value.fetch_add_relaxed(n) + n;
  }
  /// Exact when no thread adds; never below zero.
  std::uint64_t sum() const noexcept {
    std::int64_t total = 0;
    for (const auto& each : shards_) total += each.value.load_relaxed();
    return total > 0 ? static_cast<std::uint64_t>(total) : 0;
  }
  /// Beside concurrent add()s some of these may be lost.
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
