// The 8 bytes before every object: a mark that tells a live object from a freed one or from a
// pointer that never came from these heaps, and its size.
//
//   block + 8         payload, 16-byte aligned
//   | mark : 32 | size : 32 | bytes ... |
//
// The size stands next to the object, so that a byte string outside of the heaps needs no more of a
// header than that (guide/object.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"

namespace isotherm::heap {

struct header {
  std::uint32_t mark;
  std::uint32_t bytes;
};
inline constexpr std::size_t kHeaderBytes = 8;
static_assert(sizeof(header) == kHeaderBytes);

inline constexpr std::uint32_t kLiveMark = 0x150b'7e11;
inline constexpr std::uint32_t kFreedMark = 0xdead'0b1e;

/// Bytes of payload that may be read: whole words, at least one.
constexpr std::size_t readable_bytes(std::size_t bytes) noexcept {
  return bytes == 0 ? 8 : (bytes + 7) & ~std::size_t{7};
}

inline header* header_of(const void* object) noexcept {
  return reinterpret_cast<header*>(reinterpret_cast<std::uintptr_t>(object) - kHeaderBytes);
}

/// Returns the header of an object that another thread may be making or freeing at the same time.
/// Relaxed, as write_header(): mark and size are one word, so that they belong together. A thread
/// that must not miss a change of the mark is ordered after it by a lock, as flush() after
/// hole_cache::take().
// no_sanitize_address, for this load alone: the header of a freed object is poisoned, and
// packed/dead_pages.cpp reads it on purpose, to tell by the mark whether the object lives.
[[gnu::no_sanitize_address]] inline header racy_header(const void* object) noexcept {
  return std::bit_cast<header>(
      __atomic_load_n(reinterpret_cast<const std::uint64_t*>(header_of(object)), __ATOMIC_RELAXED));
}
inline void write_header(void* object, const header& next) noexcept {
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(header_of(object)),
                   std::bit_cast<std::uint64_t>(next), __ATOMIC_RELAXED);
}

inline header checked_header(const void* object) noexcept {
  const header found = *header_of(object);
  ISO_CHECK(found.mark == kLiveMark, "not a live object of these heaps (freed twice?)");
  return found;
}

}  // namespace isotherm::heap
