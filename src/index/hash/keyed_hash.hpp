// The hash of all tables whose keys come from outside: xxHash3 with a secret that this process drew
// at its start. Keys that share a chain here share none in another process, so that nobody can send
// keys that were made to collide. xxHash3 is no cryptographic hash: whoever could measure the time
// of millions of look-ups one by one might learn something of the secret.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/entropy.hpp"

namespace isotherm::index {

namespace detail {

/// As long as xxHash3's own; all lengths of keys are hashed with it.
struct hash_secret {
  hash_secret() noexcept { os::fill_with_entropy(bytes); }
  alignas(64) std::array<std::byte, 192> bytes;
};
static_assert(sizeof(hash_secret::bytes) >= XXH3_SECRET_SIZE_MIN);

/// Drawn by the first who asks.
inline const hash_secret& secret() noexcept {
  static const hash_secret drawn;
  return drawn;
}

}  // namespace detail

/// 64 good bits of a key, the same as long as the process lives (a child by fork() included).
inline std::uint64_t hash_of(std::string_view key) noexcept {
  const auto& secret = detail::secret().bytes;
  return XXH3_64bits_withSecret(key.data(), key.size(), secret.data(), secret.size());
}

}  // namespace isotherm::index
