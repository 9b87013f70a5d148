/* What code that isotherm-clang.so has instrumented calls (docs/compiler.md). C, so that any front
 * end can call it. Programs written by hand use isotherm::scope (isotherm/scope.hpp). */
#ifndef ISOTHERM_ABI_H
#define ISOTHERM_ABI_H

#ifdef __cplusplus
#define ISOTHERM_NOTHROW noexcept
extern "C" {
#else
#define ISOTHERM_NOTHROW __attribute__((nothrow))
#endif

/* Opens a scope of the calling thread. Scopes nest; addresses that guides give stay valid until the
 * outermost one closes. The thread's first call claims a slot and aborts where there is no memory
 * for it. Never throws. Any thread. */
void isotherm_enter_scope(void) ISOTHERM_NOTHROW;

/* Closes the scope that the calling thread has opened last. Each isotherm_enter_scope() is followed
 * by one of these, whichever way a function is left. The outermost may free what was retired, for a
 * tenth of a millisecond. Never throws. */
void isotherm_leave_scope(void) ISOTHERM_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif
