// What this process holds in DRAM. The resident set alone would flatter a COLD heap in a file: its
// pages can be unmapped and yet stay in the page cache. And it counts mapped pages of the file
// once, which residency (mincore) counts too: so COLD is taken out of the one and put in from the
// other.
#pragma once

#include "heap/heap.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::heap {

/// Bytes.
struct footprint {
  std::uint64_t rss = 0;
  std::uint64_t rss_peak = 0;
  std::uint64_t dram = 0;  ///< resident set and, beyond it, the page cache of the COLD file
};

/// `cold_resident_bytes` is usage_of(kind::cold).resident_bytes, taken at about the same time.
inline footprint read_footprint(std::uint64_t cold_resident_bytes) {
  const os::process_memory memory = os::read_process_memory();
  const range cold = range_of(kind::cold);
  const std::uint64_t mapped = os::resident_in(cold.begin, cold.end);
  const std::uint64_t others = memory.rss_bytes > mapped ? memory.rss_bytes - mapped : 0;
  return {memory.rss_bytes, memory.rss_peak_bytes, others + cold_resident_bytes};
}

}  // namespace isotherm::heap
