// Three levels of assertion: broken invariants abort, expected failures are base::result.
//   ISO_CHECK     always on: what would corrupt memory or lose data; must be cheap
//   ISO_ASSERT    debug and sanitizer builds: internal invariants
//   ISO_EXPENSIVE without NDEBUG (debug, and the preset asan): walks a structure
#pragma once

namespace isotherm::base {

/// Prints one line naming the place and the broken condition, then aborts.
[[noreturn, gnu::cold]] void check_failed(const char* file, int line, const char* condition,
                                          const char* message) noexcept;

}  // namespace isotherm::base

#define ISO_CHECK(condition, message)                \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::isotherm::base::check_failed(__FILE__, __LINE__, #condition, message))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ISOTHERM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ISOTHERM_SANITIZED 1
#endif
#endif

#if !defined(NDEBUG) || defined(ISOTHERM_SANITIZED)
#define ISO_ASSERT(condition, message) ISO_CHECK(condition, message)
#else
#define ISO_ASSERT(condition, message) static_cast<void>(sizeof(!(condition)))
#endif

#if !defined(NDEBUG)
#define ISO_EXPENSIVE(condition, message) ISO_CHECK(condition, message)
#else
#define ISO_EXPENSIVE(condition, message) static_cast<void>(sizeof(!(condition)))
#endif
