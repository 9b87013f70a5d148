// Handlers around fork(2).
#pragma once

namespace isotherm::os {

/// Registers handlers (pthread_atfork): `prepare` runs in the parent before the fork, in the
/// reverse order of registration; `parent` and `child` after it, in order. Any may be null. Only
/// async-signal-safe work and unlocking belongs into `child`. Aborts when memory for the
/// registration is exhausted.
void at_fork(void (*prepare)(), void (*parent)(), void (*child)());

}  // namespace isotherm::os
