// A model of a processor's cache, for counting without a clock.
#pragma once

#include <cstdint>
#include <vector>

namespace isotherm::lab {

/// A set-associative cache of lines, each set in the order of last use. Lines are spread over the
/// sets by a hash, as third-level caches do. Owned by one thread.
class cache_model {
 public:
  static constexpr std::uint64_t kLineBytes = 64;
  static constexpr unsigned kWays = 16;

  /// Models a cache of `bytes`, rounded down to whole sets; 0: no line ever hits.
  explicit cache_model(std::uint64_t bytes);

  /// Uses a line, which is in the cache afterwards. Returns whether it was there.
  bool use(std::uint64_t line) noexcept;

  std::uint64_t bytes() const noexcept { return lines_.size() * kLineBytes; }

 private:
  std::uint64_t sets_;
  std::vector<std::uint64_t> lines_;  // kWays a set, the last used first; 0: none
};

}  // namespace isotherm::lab
