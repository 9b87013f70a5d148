#include "store/memory.hpp"

#include <jemalloc/jemalloc.h>

#include <algorithm>

#include "base/check.hpp"
#include "heap/allocator.hpp"
#include "heap/usage.hpp"

namespace isotherm::store {

namespace {
base::atomic<std::uint64_t> cold_elsewhere{0};  // bytes of COLD not in DRAM at the last note_cold()
}

void note_cold(const heap::usage& now) noexcept {
  cold_elsewhere.store_relaxed(now.bytes - std::min(now.bytes, now.resident_bytes));
}

bool counts_allocations() noexcept {
#if defined(ISOTHERM_SANITIZED)
  return true;
#else
  return heap::is_allocator_ours();
#endif
}

std::uint64_t allocated_bytes() {
  std::uint64_t epoch = 1;
  std::size_t size = sizeof epoch;
  mallctl("epoch", &epoch, &size, &epoch, size);
  std::size_t allocated = 0;
  size = sizeof allocated;
  mallctl("stats.allocated", &allocated, &size, nullptr, 0);
  // NODE is an arena of the same allocator, counted above; the heaps of objects are not.
  const auto bytes_in = [](heap::kind where) {
    return heap::usage_of(where, heap::residency::left_out).bytes;
  };
  const std::uint64_t cold = bytes_in(heap::kind::cold);
  return allocated + bytes_in(heap::kind::newborn) + bytes_in(heap::kind::hot) + cold -
         std::min(cold, cold_elsewhere.load_relaxed());
}

}  // namespace isotherm::store
