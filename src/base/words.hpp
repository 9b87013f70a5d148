// Copies memory that other threads may write at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isotherm::base {

/// Copies `bytes` bytes from `source` to `target` by relaxed atomic loads of aligned 8-byte words.
/// `source` and `target` must be 8-byte aligned, and at least `bytes` rounded up to 8 long. The
/// copy may race with atomic stores (write_in_place()): it may then be torn, but is not undefined,
/// and the caller must discard it (pitfall 7).
inline void copy_words_racy(void* target, const void* source, std::size_t bytes) noexcept {
  auto* to = static_cast<std::uint64_t*>(target);
  const auto* from = static_cast<const std::uint64_t*>(source);
  for (std::size_t i = 0; i < (bytes + 7) / 8; ++i) {
    to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  }
}

}  // namespace isotherm::base
