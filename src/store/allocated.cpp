#include "store/memory.hpp"

#include <jemalloc/jemalloc.h>
#include <unistd.h>

#include <cstdio>

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

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return 0;
  unsigned long long total = 0, resident = 0;
  const int fields = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace isotherm::store
