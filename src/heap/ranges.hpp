// The process's heaps: four ranges side by side, made once and never unmade.
//
//   base         + R        + 2 R      + 3 R      + 4 R
//    | NEW        | HOT      | COLD     | NODE     |
#pragma once

#include <array>
#include <cstdint>

#include "base/atomic.hpp"
#include "heap/arena.hpp"
#include "heap/heap.hpp"
#include "heap/packed.hpp"

namespace isotherm::heap {

struct heap_set {
  std::uintptr_t base = 0;
  std::size_t range_bytes = 0;
  arena fresh;
  packed_heap hot;
  packed_heap cold;
  arena node;
  std::array<base::atomic<std::uint64_t>, kKinds> refused;

  range range_at(std::size_t index) const noexcept {
    return {base + index * range_bytes, base + (index + 1) * range_bytes};
  }
  packed_heap& packed(kind where) noexcept { return where == kind::hot ? hot : cold; }
};

/// The heaps once configured, else null. Release by configure(), acquire by users: they see all of
/// it.
extern base::atomic<heap_set*> configured_heaps;
/// Configures with the defaults; ends the process with the reason when that fails. Cold.
heap_set& configure_defaults() noexcept;

inline heap_set& heaps() noexcept {
  heap_set* set = configured_heaps.load_acquire();
  return set != nullptr ? *set : configure_defaults();
}

}  // namespace isotherm::heap
