// Memory for objects, which guides hold and the collector moves. An object has an 8-byte header
// (its size) before it, so that the collector can copy it without knowing its type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/kind.hpp"

namespace isotherm::heap {

/// Whether an object of NEW or HOT may take the room of one of its size that was freed, and whether
/// its own may be taken so afterwards. COLD pays no attention.
enum class recycling : std::uint8_t {
  allowed,  ///< for values that come and go
  none      ///< for the collector, which must not fill the extents that it empties
};

/// Objects of HOT that lie in extents of their own, so that objects used alike share pages: 0 is
/// the hottest. Objects that applications' threads put there lie in the coldest band, except those
/// that take a hole, in whatever extent it is.
using band = std::uint8_t;
inline constexpr band kBands = 4, kColdestBand = kBands - 1;

/// Objects that lie in the same so many bytes, from a multiple on, share an extent: the room that
/// is taken from the system, and given back, as a whole.
inline constexpr std::size_t kTogetherBytes = std::size_t{1} << 20;

/// The place where an object goes: in a heap, and in HOT to a band.
struct place {
  constexpr place(kind in, band of = kColdestBand) noexcept : where(in), among(of) {}
  kind where;
  band among;
};

/// Memory for an object of `bytes` (0 allowed, < 4 GiB) in a heap that is not NODE: 16-byte
/// aligned, at least 8 readable bytes, rounded up to words. Null when the heap is full (range
/// exhausted, or no space left for the backing).
void* allocate(place to, std::size_t bytes, recycling room = recycling::allowed) noexcept;

/// Gives an object back. Any thread. Touches no page of an object in COLD. Aborts on what is not a
/// live object of NEW or HOT. Sanitizer builds poison it.
void deallocate(void* object, recycling room = recycling::allowed) noexcept;

/// Size given to allocate(). Reads the object's header.
/// Requires: the object is not out (cold/arrived_reads.hpp).
std::size_t object_size(const void* object) noexcept;

/// Fetches what object_size() reads into the processor's caches, without waiting for it. `object`
/// may be gone: an address that cannot be read is left alone.
void fetch_size(const void* object) noexcept;

/// Bytes that are free again after deallocate(): the size, in COLD up to 15 bytes more. Touches no
/// page of an object in COLD.
std::size_t room_of(const void* object) noexcept;

}  // namespace isotherm::heap
