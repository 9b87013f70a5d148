// The result of a public operation instead of an object's address.
#pragma once

#include "sync/scope.hpp"

/// Marks functions whose result, an address, is valid as long as the object that gives it.
#if defined(__clang__)
#define ISOTHERM_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define ISOTHERM_LIFETIMEBOUND
#endif

namespace isotherm {

/// The address of an object, and the scope that keeps it valid. Made in the scope in which the
/// address was found, and returned as it is (`return pinned<T>(...)`): it can be neither copied nor
/// moved. Holds up the collector as long as it lives, as every scope does. Stays on its thread.
template <class T>
class pinned {
 public:
  /// `found`: null, or an address that a guide gave in a scope that is still open.
  explicit pinned(T* found) noexcept : object_(found) {}
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

  T* get() const noexcept ISOTHERM_LIFETIMEBOUND { return object_; }
  T& operator*() const noexcept ISOTHERM_LIFETIMEBOUND { return *object_; }
  T* operator->() const noexcept ISOTHERM_LIFETIMEBOUND { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  sync::scope inside_;
  T* object_;
};

}  // namespace isotherm
