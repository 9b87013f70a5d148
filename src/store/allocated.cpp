#include "store/memory.hpp"

#include <jemalloc/jemalloc.h>

#include "heap/heap.hpp"

namespace isotherm::store {

std::uint64_t allocated_bytes() {
  std::uint64_t epoch = 1;
  std::size_t size = sizeof epoch;
  mallctl("epoch", &epoch, &size, &epoch, size);
  std::size_t allocated = 0;
  size = sizeof allocated;
  mallctl("stats.allocated", &allocated, &size, nullptr, 0);
  // NEW and NODE are arenas of the same allocator, counted above; the packed heaps are not.
  return allocated + heap::usage_of(heap::kind::hot, false).bytes +
         heap::usage_of(heap::kind::cold, false).bytes;
}

}  // namespace isotherm::store
