// The memory of an analysis while it reads a trace: all of the keys, as long as they are few, or a
// sample of them.
//
// The sample is one of keys, by their hashes, as SHARDS draws it (Waldspurger, Park, Garthwaite,
// Ahmad, FAST 2015): a followed key has all of its uses, with their places among all requests, so
// that gaps between uses are exact, and counts of keys scale. Whenever the keys or the uses are
// too many, every second key is given up.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lab/traces/request.hpp"

namespace isotherm::traces {

/// How much is remembered.
struct follow_limits {
  std::uint64_t keys = std::uint64_t{1} << 22;  ///< at most kMostKeys
  std::uint64_t uses = std::uint64_t{1} << 25;  ///< 8 bytes each

  static constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 24;
};

/// Sums over all requests, and the uses of the followed keys. Not thread-safe.
class follower {
 public:
  explicit follower(const follow_limits& limits) : limits_(limits) {}

  void add(const request& next);

  struct key {
    std::uint64_t hash = 0;
    std::uint32_t key_size = 0;    ///< bytes: as recorded, else of the key's text
    std::uint32_t value_size = 0;  ///< bytes: the last that was not 0
  };
  /// A use of a followed key: its index in keys(), and its place among all requests.
  struct use {
    std::uint64_t key : 24;
    std::uint64_t place : 40;
  };

  std::uint64_t requests() const noexcept { return requests_; }
  const std::array<std::uint64_t, kOperations>& by_kind() const noexcept { return by_kind_; }
  std::uint64_t first_us() const noexcept { return first_us_; }
  std::uint64_t last_us() const noexcept { return last_us_; }
  /// Requests that tell a size of a value, and these sizes added up.
  std::uint64_t sized_requests() const noexcept { return sized_requests_; }
  std::uint64_t value_bytes() const noexcept { return value_bytes_; }

  const std::vector<key>& keys() const noexcept { return keys_; }
  const std::vector<use>& uses() const noexcept { return uses_; }  ///< in their order
  /// 1 in so many keys is followed.
  double one_in() const noexcept { return static_cast<double>(left_out_ + 1); }

 private:
  void halve();

  follow_limits limits_;
  std::uint64_t requests_ = 0, sized_requests_ = 0, value_bytes_ = 0;
  std::uint64_t first_us_ = ~std::uint64_t{0}, last_us_ = 0;
  std::array<std::uint64_t, kOperations> by_kind_{};
  std::uint64_t left_out_ = 0;  ///< keys whose hash has a bit of this are not followed
  std::unordered_map<std::uint64_t, std::uint32_t> index_of_;  ///< by hash
  std::vector<key> keys_;
  std::vector<use> uses_;
};

}  // namespace isotherm::traces
