// The process's heaps: four ranges side by side, made once and never unmade.
//
//   base         + R        + 2 R      + 3 R      + 4 R
//    | NEW        | HOT      | COLD     | NODE     |
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/atomic.hpp"
#include "heap/arena.hpp"
#include "heap/header.hpp"
#include "heap/heap.hpp"
#include "heap/packed/packed.hpp"

namespace isotherm::heap {

constexpr std::size_t index_of(kind where) noexcept { return static_cast<std::size_t>(where); }

struct heap_set {
  std::uintptr_t base = 0;
  std::size_t range_bytes = 0;
  arena fresh;
  packed_heap hot;
  packed_heap cold;
  arena node;
  std::array<base::atomic<std::uint64_t>, kKinds> refused;
  bool catches_read_errors = false;  // options::catch_read_errors, and COLD is a file

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

/// Header of an object in COLD of a heap that catches read errors; nullopt, counted as a lost read,
/// when its page cannot be read.
std::optional<header> header_on_disk(const void* object) noexcept;

inline heap_set& heaps() noexcept {
  heap_set* set = configured_heaps.load_acquire();
  return set != nullptr ? *set : configure_defaults();
}

}  // namespace isotherm::heap
