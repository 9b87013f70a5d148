// An entry of an index map: a 128-bit number with the first bytes of a record's key on top, most
// significant first, and the pointer to the record below them. Sorting entries is sorting plain
// integers: they order by these key bytes and, where those are equal, by place in the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace isotherm::sort {

using entry = unsigned __int128;

/// How the 16 bytes of an entry are divided between key and pointer.
struct entry_layout {
  unsigned key_bytes = 11;       ///< room for the key, on top
  unsigned used_key_bytes = 11;  ///< how many of key_bytes can differ between entries; the rest are
                                 ///< 0
  bool reverse = false;          ///< key bytes are stored complemented

  constexpr unsigned pointer_bits() const noexcept { return 8 * (16 - key_bytes); }
  constexpr entry key_mask() const noexcept { return ~entry{0} << pointer_bits(); }
  constexpr std::uint64_t pointer(entry e) const noexcept {
    return static_cast<std::uint64_t>(e & ~key_mask());
  }
  constexpr entry key(entry e) const noexcept { return e & key_mask(); }
  /// Joins up to `key_bytes` bytes of key, high-aligned in `key`, with a pointer.
  constexpr entry make(entry high_key, std::uint64_t pointer_value) const noexcept {
    return ((reverse ? ~high_key : high_key) & key_mask()) | pointer_value;
  }
  /// An entry of which only the key bytes are left, because its record is not wanted.
  constexpr entry drop(entry e) const noexcept { return e | ~key_mask(); }
  constexpr bool dropped(entry e) const noexcept { return drop(e) == e; }
  /// Size of an entry in a run: without the key bytes that all entries share.
  constexpr unsigned packed_bytes() const noexcept { return used_key_bytes + 16 - key_bytes; }
};

inline entry byteswap128(entry e) noexcept {
  return (entry{__builtin_bswap64(static_cast<std::uint64_t>(e))} << 64) |
         __builtin_bswap64(static_cast<std::uint64_t>(e >> 64));
}

/// The first min(n, 16) bytes at `p` as a big-endian number, padded with zeros. Reads only those.
inline entry load_key(const std::byte* p, std::size_t n) noexcept {
  entry e = 0;
  std::memcpy(&e, p, n < 16 ? n : 16);
  return byteswap128(e);
}

/// Writes 16 bytes at `target`; only the first packed_bytes() matter.
inline void pack(const entry_layout& l, entry e, std::byte* target) noexcept {
  const unsigned unused = 8 * (l.key_bytes - l.used_key_bytes);
  const entry key = (l.key(e) >> (l.pointer_bits() + unused)) << l.pointer_bits();
  const entry v = byteswap128((key | l.pointer(e)) << (8 * (16 - l.packed_bytes())));
  std::memcpy(target, &v, 16);
}

/// Reads 16 bytes at `source`; only the first packed_bytes() matter.
inline entry unpack(const entry_layout& l, const std::byte* source) noexcept {
  entry v;
  std::memcpy(&v, source, 16);
  v = byteswap128(v) >> (8 * (16 - l.packed_bytes()));
  const unsigned unused = 8 * (l.key_bytes - l.used_key_bytes);
  const entry key = (v >> l.pointer_bits()) << (l.pointer_bits() + unused);
  return key | l.pointer(v);
}

}  // namespace isotherm::sort
