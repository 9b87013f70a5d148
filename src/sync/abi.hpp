// The C hooks of isotherm/abi.h, as inline functions: instrumented code has them where the compiler
// can put a scope's few instructions in the place of the call.
#pragma once

#include <isotherm/abi.h>

#include "sync/scope.hpp"

extern "C" {

/// Opens a scope of the calling thread.
[[gnu::used]] inline void isotherm_enter_scope() noexcept {
  isotherm::sync::scope::open(isotherm::sync::slot_of_this_thread());
}

/// Closes the scope that the calling thread has opened last.
[[gnu::used]] inline void isotherm_leave_scope() noexcept {
  isotherm::sync::scope::close(*isotherm::sync::this_thread_slot);
}

}  // extern "C"
