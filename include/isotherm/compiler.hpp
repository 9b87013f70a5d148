// For sources that mark pointers with [[isotherm::guide]] (docs/compiler.md).
//
// Compiled by clang with isotherm-clang.so such a pointer is a guide; compiled by anything else it
// is the plain pointer that it says it is, and the names below are new, delete and a pointer.
//
//   isotherm::make<T>(arguments...)   a T to point to; throws std::bad_alloc
//   isotherm::discard(pointer)        ends it; a marked field is null afterwards
//   isotherm::pinned<T>(pointer)      what a public method returns instead of an address
//   isotherm::is_trivially_relocatable<T>  std::true_type for a T that may be moved by its bytes
#pragma once

// Objects compiled in either way must not meet in one program: the classes differ. Without the
// plugin an object defines a symbol. An object compiled with it has one byte for that symbol's
// address: 0 where no object defines the symbol, and an error of every linker where one does, as no
// address fits. The section has no address either and so is never loaded; its name is what the
// error shows. Both are kept when a linker removes what is not used (retain, "R").
#ifdef ISOTHERM_INSTRUMENTED

#include "guide/marked.hpp"
#include "guide/pinned.hpp"
#include "sync/abi.hpp"

asm(R"(
    .pushsection .isotherm_compiled_with_and_without_plugin, "R", @progbits
    .weak isotherm_compiled_without_plugin
    .hidden isotherm_compiled_without_plugin
    .byte isotherm_compiled_without_plugin
    .popsection
)");

#else

#ifdef ISOTHERM_LINKS_INSTRUMENTED  // by isotherm_instrument()
#error \
    "this target includes marked classes of a library that it links and that is compiled by \
isotherm's plugin: call isotherm_instrument() for this target too"
#endif

#include <utility>

#include "guide/relocatable.hpp"

extern "C" {
[[gnu::used, gnu::retain]] inline constinit char isotherm_compiled_without_plugin = 0;
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
