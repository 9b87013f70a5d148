// Marks in a shadow: one bit for each byte of an observed address space, which the tool and the
// plugin inside QEMU share. This header needs no library: the plugin links none.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::pages {

/// User addresses of x86-64 and AArch64 lie below 2^47.
inline constexpr std::uint64_t kAddressEnd = std::uint64_t{1} << 47;
/// Bytes of a shadow's area: bit A of it stands for the byte at address A.
inline constexpr std::uint64_t kAreaBytes = kAddressEnd / 8;
/// One area takes the marks of the window that runs, the other one is read and cleared.
inline constexpr unsigned kAreas = 2;
/// A word of a shadow stands for one line of 64 bytes.
inline constexpr std::uint64_t kLineBytes = 64;

using shadow_word = base::atomic<std::uint64_t>;
static_assert(sizeof(shadow_word) == 8, "a word of a shadow is shared between processes");

/// Sets bits of a word. Reads first: nearly all accesses are of bytes that have their mark, and a
/// load leaves the cache line shared between threads.
inline void mark_word(shadow_word& word, std::uint64_t bits) noexcept {
  if ((word.load_relaxed() & bits) != bits) word.fetch_or_relaxed(bits);
}

/// Marks the `bytes` bytes at `address` in the area at `area`; those at and above kAddressEnd are
/// left out. Any thread of any process that maps the area.
inline void mark_bytes(shadow_word* area, std::uint64_t address, std::uint64_t bytes) noexcept {
  if (address >= kAddressEnd || bytes == 0) return;
  if (bytes > kAddressEnd - address) bytes = kAddressEnd - address;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const std::uint64_t last = address + bytes - 1;
  const std::uint64_t from_first = kAll << (address % kLineBytes);
  const std::uint64_t to_last = kAll >> (kLineBytes - 1 - last % kLineBytes);
  std::uint64_t line = address / kLineBytes;
  if (line == last / kLineBytes) {
    mark_word(area[line], from_first & to_last);
    return;
  }
  mark_word(area[line], from_first);
  for (++line; line < last / kLineBytes; ++line) mark_word(area[line], kAll);
  mark_word(area[line], to_last);
}

}  // namespace isotherm::pages
