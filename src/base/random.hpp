// Small deterministic random numbers for workloads, skip lists and tests (not for secrets).
#pragma once

#include <cstdint>

namespace isotherm::base {

/// One step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014); also a good 64-bit mixer.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// xoshiro256** (Blackman, Vigna, TOMS 2021). A UniformRandomBitGenerator; one per thread.
class random {
 public:
  using result_type = std::uint64_t;

  constexpr explicit random(std::uint64_t seed) noexcept {
    for (auto& word : state_) word = seed = mix64(seed);
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }

  constexpr result_type operator()() noexcept {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), bound > 0 (Lemire's multiply-shift; bias below 2^-32 for bound < 2^32).
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }

  /// Uniform in [0, 1).
  constexpr double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) noexcept {
    return (x << k) | (x >> (64 - k));
  }
  std::uint64_t state_[4];
};

}  // namespace isotherm::base
