// For sources that mark pointers with [[isotherm::guide]] (docs/compiler.md).
//
// Compiled by clang with isotherm-clang.so such a pointer is a guide; compiled by anything else it
// is the plain pointer that it says it is, and the names below are new, delete and a pointer.
//
//   isotherm::make<T>(arguments...)   a T to point to; throws std::bad_alloc
//   isotherm::discard(pointer)        ends it; a marked field is null afterwards
//   isotherm::pinned<T>(pointer)      what a public method returns instead of an address
#pragma once

// Objects compiled in either way must not meet in one program: the classes differ. A variable of
// one name that is thread-local in the one and not in the other, and with the plugin alone in its
// group of sections with a second one, makes linkers refuse.
#ifdef ISOTHERM_INSTRUMENTED

#include "guide/marked.hpp"
#include "guide/pinned.hpp"
#include "sync/abi.hpp"

extern "C" {
[[gnu::used]] inline constinit thread_local char isotherm_compiled_with_and_without_plugin = 0;
}

#else

#include <utility>

extern "C" {
[[gnu::used]] inline constinit char isotherm_compiled_with_and_without_plugin = 0;
}

namespace isotherm {
inline namespace plain {

/// new T(arguments...).
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  return new T(std::forward<Arguments>(arguments)...);
}

/// delete `held`, which is null afterwards.
template <class T>
void discard(T*& held) noexcept {
  delete std::exchange(held, nullptr);
}
template <class T>
void discard(T* const& held) noexcept {
  delete held;
}

/// A pointer.
template <class T>
class pinned {
 public:
  explicit pinned(T* found) noexcept : object_(found) {}
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  T* object_;
};

}  // namespace plain
}  // namespace isotherm

#endif
