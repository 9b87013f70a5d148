#include "sync/abi.hpp"

// The declarations of abi.h and the definitions of abi.hpp are of one type, or this does not
// compile; here is also where callers find the functions that cannot have them inline.
static_assert(noexcept(isotherm_enter_scope()) && noexcept(isotherm_leave_scope()));
