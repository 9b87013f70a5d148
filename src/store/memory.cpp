#include "store/memory.hpp"

#include "os/memory/process_memory.hpp"

namespace isotherm::store {

std::uint64_t resident_bytes() { return os::read_process_memory().rss_bytes; }

std::uint64_t memory_meter::sample() {
  written_.store_relaxed(0);
  const std::uint64_t bytes = ask_();
  sampled_.store_relaxed(bytes);
  std::uint64_t peak = peak_.load_relaxed();
  while (bytes > peak && !peak_.compare_exchange_weak_relaxed(peak, bytes)) {
  }
  return bytes;
}

}  // namespace isotherm::store
