// Pools of threads whose size is a property of the device: as many as its bandwidth wants, not as
// many as there are cores (wiscsort.txt 3.4). A pool lives for one stage.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace isotherm::device {

/// Runs `body(thread)` on `threads` threads (thread 0 is the caller) and returns when all have.
template <class Body>
void run_pool(unsigned threads, Body&& body) {
  std::vector<std::jthread> others;
  others.reserve(threads);
  for (unsigned t = 1; t < threads; ++t) others.emplace_back([&body, t] { body(t); });
  body(0u);
}

/// Splits [0, count) into `threads` even parts; part `t` is [first, second).
constexpr std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t count, unsigned threads,
                                                          unsigned t) noexcept {
  const auto at = [&](unsigned i) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(count) * i / threads);
  };
  return {at(t), at(t + 1)};
}

}  // namespace isotherm::device
