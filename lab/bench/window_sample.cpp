#include "lab/bench/window_sample.hpp"

#include <algorithm>

namespace isotherm::lab {

driven_summary summary_of(const workload::tally& sums) {
  const auto microseconds = [&](double share) {
    return static_cast<double>(sums.latency_ns.quantile(share)) / 1e3;
  };
  return {.operations = sums.operations(),
          .waited = sums.waited,
          .misses = sums.misses,
          .latency_us = {.p50 = microseconds(0.5),
                         .p90 = microseconds(0.9),
                         .p99 = microseconds(0.99),
                         .p999 = microseconds(0.999),
                         .mean = sums.latency_ns.mean() / 1e3,
                         .max = microseconds(1)}};
}

double miss_ratio_of(const driven_summary& driven) noexcept {
  return static_cast<double>(driven.waited) /
         static_cast<double>(std::max<std::uint64_t>(driven.operations, 1));
}

std::optional<std::uint64_t> held_bytes(const window_sample& sample) {
  if (!sample.heaps) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const heap::kind where : {heap::kind::newborn, heap::kind::hot, heap::kind::cold}) {
    bytes += (*sample.heaps)[where].resident_bytes;
  }
  return bytes;
}

}  // namespace isotherm::lab
