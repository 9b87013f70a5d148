// Copying memory that other threads may read or write at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace isotherm::base {

/// Copies `bytes` from `source` to `target` by relaxed atomic loads of aligned 8-byte words.
/// `source` and `target` must be 8-byte aligned, and at least `bytes` rounded up to 8 long. The
/// copy may race with store_words(): it is then torn, never undefined, and its taker must discard
/// it (DESIGN.md 3.4, pitfall 7).
inline void copy_words_racy(void* target, const void* source, std::size_t bytes) noexcept {
  auto* to = static_cast<std::uint64_t*>(target);
  const auto* from = static_cast<const std::uint64_t*>(source);
  for (std::size_t i = 0; i < (bytes + 7) / 8; ++i) {
    to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  }
}

/// Writes `bytes` from private memory into an object that a collector may be copying, word by
/// word, atomically. `target` must be 8-byte aligned; a tail shorter than a word is written by
/// bytes.
inline void store_words(void* target, const void* source, std::size_t bytes) noexcept {
  auto* to = static_cast<std::uint64_t*>(target);
  const auto* from = static_cast<const char*>(source);
  std::size_t done = 0;
  for (; done + 8 <= bytes; done += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + done, 8);
    __atomic_store_n(to + done / 8, word, __ATOMIC_RELAXED);
  }
  if (done == bytes) return;
  std::uint64_t word = __atomic_load_n(to + done / 8, __ATOMIC_RELAXED);
  std::memcpy(&word, from + done, bytes - done);
  __atomic_store_n(to + done / 8, word, __ATOMIC_RELAXED);
}

}  // namespace isotherm::base
