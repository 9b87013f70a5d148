// Eight bytes of a key as a number that orders like the bytes: most comparisons in an ordered
// structure then need only a register, and the key itself is not read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace isotherm::index {

/// Bytes `depth` .. depth + 7 of `key` (depth <= size), the first the most significant, zeros
/// behind the key's end. a < b implies key_slice(a) <= key_slice(b).
inline std::uint64_t key_slice(std::string_view key, std::size_t depth = 0) noexcept {
  static_assert(std::endian::native == std::endian::little);
  const std::size_t rest = key.size() - depth;
  std::uint64_t word = 0;
  if (rest >= 8) {
    std::memcpy(&word, key.data() + depth, 8);
    return std::byteswap(word);
  }
  if (rest == 0) return 0;
  if (key.size() >= 8) {  // the key's last 8 bytes, of which the first 8 - rest are shifted out
    std::memcpy(&word, key.data() + key.size() - 8, 8);
    return std::byteswap(word) << (8 * (8 - rest));
  }
  std::memcpy(&word, key.data() + depth, rest);
  return std::byteswap(word);
}

}  // namespace isotherm::index
