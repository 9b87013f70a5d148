// Free memory is poisoned in AddressSanitizer builds, so that a stale dereference is reported for
// certain (pitfall 9): the sanitizer sees the heaps' ranges as one mapping.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define ISOTHERM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ISOTHERM_ASAN 1
#endif
#endif

#if defined(ISOTHERM_ASAN)
#include <sanitizer/asan_interface.h>
#endif

// Null but in programs that have the leak checker, which may be built without it otherwise: as a
// user's own against the installed library.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the checker's own name
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t bytes);

namespace isotherm::heap {

/// Forbids access to [begin, begin + bytes) until unpoison(). `begin` must be 8-byte aligned.
inline void poison([[maybe_unused]] const void* begin,
                   [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ISOTHERM_ASAN)
  __asan_poison_memory_region(begin, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* begin,
                     [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(ISOTHERM_ASAN)
  __asan_unpoison_memory_region(begin, bytes);
#endif
}

/// Objects and nodes may own ordinary heap memory: the leak checker must look for pointers here.
inline void register_leak_roots(const void* begin, std::size_t bytes) noexcept {
  if (&__lsan_register_root_region != nullptr) __lsan_register_root_region(begin, bytes);
}

}  // namespace isotherm::heap
