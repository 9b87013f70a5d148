#include "heap/cold/refusing_aligned_alloc.hpp"

#include <stdlib.h>

#include <cstddef>

namespace isotherm::testing_help {
std::atomic<bool> refuses_pages{false};
}  // namespace isotherm::testing_help

// Stands before the C library's.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* made = nullptr;
  if (isotherm::testing_help::refuses_pages || posix_memalign(&made, alignment, bytes) != 0) {
    return nullptr;
  }
  return made;
}
