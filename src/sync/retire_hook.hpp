// For tests, in our own builds with a sanitizer only (step_hook.hpp): a look at the moment just
// behind retire(). Whatever is still published then and leads to the object is a bug that a
// reclaimer would have to hit.
#pragma once

#include "base/atomic.hpp"

namespace isotherm::sync {

#if defined(ISOTHERM_TEST_HOOKS)
using retire_hook = void (*)(void* object) noexcept;

/// Null: none. Called by retire() on its caller's thread, which may hold locks of its own.
extern base::atomic<retire_hook> after_retire;
#endif

}  // namespace isotherm::sync
