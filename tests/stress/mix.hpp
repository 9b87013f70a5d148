// The workloads of the stress test: which operations, on what keys, with values of what size.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "base/random.hpp"

namespace isotherm::index {

struct mix {
  enum operation {
    insert,
    upsert,
    erase,
    update,
    visit,
    change_own,
    check_own,
    read,
    clear,
    kOperations
  };

  std::string_view name;
  std::array<unsigned, kOperations> weights;  ///< of the operations, in the order above
  std::uint64_t shared_keys;                  ///< keys that all threads use
  std::uint64_t own_keys;                     ///< keys that one thread uses alone
  std::string (*key)(std::uint64_t number);   ///< different numbers, different keys
  std::size_t (*value_size)(base::random& random);
  std::uint64_t cost;  ///< a step of this mix costs about so many of the others

  operation choose(base::random& random) const noexcept {
    unsigned total = 0;
    for (const unsigned weight : weights) total += weight;
    auto left = static_cast<unsigned>(random.below(total));
    unsigned chosen = 0;
    while (left >= weights[chosen]) left -= weights[chosen++];
    return static_cast<operation>(chosen);
  }
};

inline std::string numbered_key(std::uint64_t number) { return "key:" + std::to_string(number); }

/// Long common parts, and keys that are prefixes of others: paths of radix nodes and layers of
/// tries are made, split and removed.
inline std::string prefix_sharing_key(std::uint64_t number) {
  std::string key(9 * (number % 5), 'p');
  key += std::to_string(number / 5 % 10);
  key.append(number / 50 % 7, '\0');
  return key + std::to_string(number / 350);
}

inline std::size_t small_value(base::random& random) {
  return random.below(random.below(20) ? 200 : 5000);
}
/// Over many pages, now and then over several extents of a heap.
inline std::size_t large_value(base::random& random) {
  return random.below(random.below(16) ? std::size_t{100} << 10 : std::size_t{5} << 20);
}

//                        insert upsert erase update visit own(change, check) read [clear]
inline constexpr mix kMixes[] = {
    {"mixed", {2, 2, 2, 2, 2, 4, 2, 4}, 2000, 200, &numbered_key, &small_value, 1},
    {"insert_erase", {8, 0, 7, 0, 1, 2, 1, 1}, 500, 100, &numbered_key, &small_value, 1},
    {"upsert", {0, 10, 1, 4, 1, 2, 1, 2}, 300, 100, &numbered_key, &small_value, 1},
    {"scan", {2, 2, 3, 0, 8, 2, 1, 1}, 1000, 100, &numbered_key, &small_value, 2},
    {"large_values", {2, 4, 2, 2, 1, 2, 2, 4}, 12, 4, &numbered_key, &large_value, 100},
    {"shared_prefixes", {4, 2, 5, 2, 2, 4, 2, 3}, 1400, 200, &prefix_sharing_key, &small_value, 1},
    {"hot_key", {2, 3, 2, 4, 1, 2, 1, 6}, 1, 20, &numbered_key, &small_value, 1},
    {"clear", {40, 20, 20, 10, 10, 40, 20, 20, 1}, 700, 100, &prefix_sharing_key, &small_value, 1},
};

/// Checksum of the content, seeded by the key: a value under a wrong key is found as well.
inline std::uint64_t checksum(std::string_view key, std::string_view content) {
  return XXH64(content.data(), content.size(), XXH64(key.data(), key.size(), 0));
}

inline std::string make_value(std::string_view key, std::size_t size, base::random& random) {
  std::string value(8 + size, '\0');
  std::uint64_t word = random();
  for (std::size_t i = 8; i < value.size(); ++i) {
    value[i] = static_cast<char>(word >> 56);
    word = word * 0x5851f42d4c957f2du + 1;
  }
  const std::uint64_t sum = checksum(key, std::string_view(value).substr(8));
  std::memcpy(value.data(), &sum, 8);
  return value;
}

inline bool is_intact(std::string_view key, std::string_view value) {
  std::uint64_t sum = 0;
  if (value.size() < 8) return false;
  std::memcpy(&sum, value.data(), 8);
  return sum == checksum(key, value.substr(8));
}

}  // namespace isotherm::index
