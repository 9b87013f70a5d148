// The process's heaps: four ranges side by side, made once and never unmade.
//
//   base         + R        + 2 R      + 3 R      + 4 R
//    | NEW        | HOT      | COLD     | NODE     |
#pragma once

#include <array>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "heap/arena.hpp"
#include "heap/configure.hpp"
#include "heap/kind.hpp"
#include "heap/packed/log_writer.hpp"
#include "heap/packed/packed.hpp"
#include "heap/packed/pager.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {

struct heap_set {
  std::uintptr_t base = 0;
  std::size_t range_bytes = 0;
  std::array<packed_heap, 3> objects;          // NEW, HOT, COLD
  pager cold_pager{packed(kind::cold)};        // of a mapped COLD
  log_writer cold_writer{packed(kind::cold)};  // of a logged one
  arena node;
  per_kind<base::atomic<std::uint64_t>> refused;  // allocations
  cold_read_limits cold_reads;                    // options::cold_reads
  bool is_fork_childs = false;                    // written in its single thread only

  range range_of(kind where) const noexcept {
    const std::uintptr_t begin = base + static_cast<std::size_t>(where) * range_bytes;
    return {begin, begin + range_bytes};
  }
  /// Returns the heap of an object; aborts when it lies in none of the heaps for objects.
  kind kind_of(const void* object) const noexcept {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - base;
    if (offset < range_bytes) return kind::newborn;
    if (offset < 2 * range_bytes) return kind::hot;
    ISO_CHECK(offset < 3 * range_bytes, "not an object of these heaps");
    return kind::cold;
  }
  /// Returns a heap for objects.
  packed_heap& packed(kind where) noexcept { return objects[static_cast<std::size_t>(where)]; }
  const packed_heap& packed(kind where) const noexcept {
    return objects[static_cast<std::size_t>(where)];
  }
  cold_extents& cold() noexcept { return packed(kind::cold).cold(); }
  const cold_extents& cold() const noexcept { return packed(kind::cold).cold(); }
};

/// The heaps once made, else null. Release by make_heaps(), acquire by users: they see all of it.
extern base::atomic<heap_set*> configured_heaps;
/// configure() of configure.hpp.
base::result<void> make_heaps(const options& chosen);
/// Makes heaps with the default options; ends the process with the reason when that fails. Cold.
heap_set& make_default_heaps() noexcept;

inline heap_set& heaps() noexcept {
  heap_set* set = configured_heaps.load_acquire();
  return set != nullptr ? *set : make_default_heaps();
}

/// Walks the packed heaps' extents; for debug builds and tests, no concurrent use.
bool is_valid();

}  // namespace isotherm::heap
