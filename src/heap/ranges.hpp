// The process's heaps: four ranges side by side, made once and never unmade.
//
//   base         + R        + 2 R      + 3 R      + 4 R
//    | NEW        | HOT      | COLD     | NODE     |
#pragma once

#include <cstdint>
#include <optional>

#include "base/atomic.hpp"
#include "heap/arena.hpp"
#include "heap/header.hpp"
#include "heap/heap.hpp"
#include "heap/packed/packed.hpp"

namespace isotherm::heap {

/// HOT and COLD are packed, NEW and NODE are arenas of jemalloc.
constexpr bool is_packed(kind where) noexcept { return where == kind::hot || where == kind::cold; }

struct heap_set {
  std::uintptr_t base = 0;
  std::size_t range_bytes = 0;
  arena newborn;
  packed_heap hot;
  packed_heap cold;
  arena node;
  per_kind<base::atomic<std::uint64_t>> refused;  // allocations
  bool catches_read_errors = false;               // options::catch_read_errors, and COLD is a file

  range range_of(kind where) const noexcept {
    const std::uintptr_t begin = base + static_cast<std::size_t>(where) * range_bytes;
    return {begin, begin + range_bytes};
  }
  arena& arena_of(kind where) noexcept { return where == kind::newborn ? newborn : node; }
  packed_heap& packed(kind where) noexcept { return where == kind::hot ? hot : cold; }
};

/// The heaps once configured, else null. Release by configure(), acquire by users: they see all of
/// it.
extern base::atomic<heap_set*> configured_heaps;
/// Configures with the defaults; ends the process with the reason when that fails. Cold.
heap_set& configure_defaults() noexcept;

/// Header of an object in COLD of a heap that catches read errors; nullopt, counted as a lost read,
/// when its page cannot be read.
std::optional<header> header_on_disk(const void* object) noexcept;

inline heap_set& heaps() noexcept {
  heap_set* set = configured_heaps.load_acquire();
  return set != nullptr ? *set : configure_defaults();
}

}  // namespace isotherm::heap
