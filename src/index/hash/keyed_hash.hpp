// The hash of all tables whose keys come from outside: xxHash3 with a secret that each process
// draws for itself. Keys that collide in one process do not in another, so that a client cannot
// prepare keys that collide. xxHash3 is not a cryptographic hash: an attacker who can measure the
// times of millions of single look-ups might learn something about the secret.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/entropy.hpp"

namespace isotherm::index {

namespace detail {

/// A secret as long as that built into xxHash3; keys of all lengths are hashed with it.
struct hash_secret {
  hash_secret() noexcept { os::fill_with_entropy(bytes); }
  alignas(64) std::array<std::byte, 192> bytes;
};
static_assert(sizeof(hash_secret::bytes) >= XXH3_SECRET_SIZE_MIN);

/// Drawn at the first call.
inline const hash_secret& secret() noexcept {
  static const hash_secret drawn;
  return drawn;
}

}  // namespace detail

/// 64 well mixed bits of a key, the same as long as the process lives (and in a child of fork()).
inline std::uint64_t hash_of(std::string_view key) noexcept {
  const auto& secret = detail::secret().bytes;
  return XXH3_64bits_withSecret(key.data(), key.size(), secret.data(), secret.size());
}

}  // namespace isotherm::index
