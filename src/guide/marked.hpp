// marked<T>: a guide that is written like the pointer in whose place isotherm-clang.so puts it
// (docs/compiler.md). Code that is written by hand says guide<T> instead.
//
// A field `[[isotherm::guide]] T* value` gets the type marked<T>. It keeps a pointer's meaning: the
// object that it pointed to before an assignment, or when it is destroyed, lives on until the
// program discards it. The object may move, which a plain pointer's does not: at most one marked
// field holds it at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "guide/guide.hpp"
#include "heap/ranges.hpp"

/// On functions whose callers hold an object's address afterwards: isotherm-clang.so gives them a
/// scope.
#if defined(__clang__)
#define ISOTHERM_TOUCHES [[clang::annotate("isotherm::touch")]]
#else
#define ISOTHERM_TOUCHES
#endif

namespace isotherm {

template <class T>
class marked {
  using object = std::remove_const_t<T>;

 public:
  marked() noexcept = default;
  /// A template, so that NULL and 0 are the null pointer of type T*.
  template <std::same_as<std::nullptr_t> Null>
  marked(Null) noexcept {}
  /// `made` is null or comes from make(), and no other marked field holds it.
  ISOTHERM_TOUCHES marked(T* made) noexcept { point_to(made); }
  marked(marked&& other) noexcept : guide_(std::move(other.guide_)) {}
  marked& operator=(marked&& other) noexcept {
    if (this == &other) return *this;
    forget();
    guide_ = std::move(other.guide_);
    return *this;
  }
  marked(const marked&) = delete;
  marked& operator=(const marked&) = delete;
  ~marked() { forget(); }

  ISOTHERM_TOUCHES marked& operator=(T* made) noexcept {
    point_to(made);
    return *this;
  }
  template <std::same_as<std::nullptr_t> Null>
  marked& operator=(Null) noexcept {
    release();
    return *this;
  }

  /// In a scope, which isotherm-clang.so sees to.
  ISOTHERM_TOUCHES operator T*() const noexcept {
    ISO_ASSERT(scope::is_open(), "a marked field is dereferenced outside of every scope");
    const guides::word w = guide_.slot().load_acquire();  // acquire: as in guide::get()
    const sync::thread_slot* const mine = sync::this_thread_slot;
    if (mine != nullptr && guides::reads_directly(w) && !mine->tracking) [[likely]] {
      return static_cast<T*>(guides::pointer_of(w));
    }
    return reach();
  }
  ISOTHERM_TOUCHES T* operator->() const noexcept { return *this; }
  ISOTHERM_TOUCHES T& operator*() const noexcept { return *operator->(); }

  /// These are no accesses.
  explicit operator bool() const noexcept { return !guide_.is_null(); }
  template <std::same_as<std::nullptr_t> Null>
  friend bool operator==(const marked& held, Null) noexcept {
    return held.guide_.is_null();
  }
  friend bool operator==(const marked& one, const marked& other) noexcept {
    return one.guide_.holds(
        static_cast<const object*>(guides::pointer_of(other.guide_.slot().load_acquire())));
  }
  friend bool operator==(const marked& held, const T* address) noexcept {
    return held.guide_.holds(address);
  }
  template <std::same_as<object*> Address>
  friend bool operator==(const marked& held, Address address) noexcept {
    return held.guide_.holds(address);
  }

  /// Points to nothing from here on; gives what it pointed to, which may be in use by scopes.
  T* release() noexcept {
    auto& slot = guide_.slot();
    if (slot.load_acquire() == 0) return nullptr;
    return static_cast<T*>(guides::pointer_of(guides::exchange(slot, guides::kVacant)));
  }

 private:
  [[gnu::noinline]] T* reach() const noexcept {
    const scope nested;
    return guide_.get(nested);
  }
  [[gnu::noinline]] void point_to(T* made) noexcept {
    if (made == nullptr) {
      release();
      return;
    }
    const scope nested;
    auto* const taken = const_cast<object*>(made);
    const heap::kind where = heap::heaps().kind_of(taken);  // aborts on what make() did not make
    // Not object_size(): what release() gave may be out of DRAM.
    const guides::word next = guides::make_word(taken, where, heap::room_of(taken));
    auto& slot = guide_.slot();
    if (slot.load_relaxed() == 0) {  // as guide(owned): being made is no use
      slot.store_release(guides::kept_for_maker(slot, next));
    } else {  // as replace()
      guides::exchange(slot, next | guides::kAccessed);
    }
    guides::register_slot(&slot);
  }
  void forget() noexcept {
    if (guide_.slot().load_relaxed() != 0) guides::vacate(guide_.slot());
  }

  guide<object> guide_;
};

/// Makes a T that the collector may move once a marked field points to it. Throws std::bad_alloc.
/// An exception of T's constructor is passed on.
template <class T, class... Arguments>
ISOTHERM_TOUCHES T* make(Arguments&&... arguments) {
  auto made = make_object_in<std::remove_const_t<T>>(heap::kind::newborn,
                                                     std::forward<Arguments>(arguments)...);
  if (!made) guides::throw_bad_alloc();
  return made.release();
}

/// Destroys what make() has made, or nothing, when every scope that may see it has closed. No
/// marked field may point to it any more.
template <class T>
void discard(T* made) noexcept {
  if (made == nullptr) return;
  using object = std::remove_const_t<T>;
  auto* const gone = const_cast<object*>(made);
  sync::retire(
      gone,
      [](void* object_gone) noexcept {
        if constexpr (!std::is_trivially_destructible_v<object>) {
          guides::destroy_object(object_gone, [](void* bytes) noexcept {
            std::destroy_at(static_cast<object*>(bytes));
          });
        }
        heap::deallocate(object_gone);
      },
      heap::room_of(gone));
}
/// Discards the object of `held`, which then points to nothing.
template <class T>
void discard(marked<T>& held) noexcept {
  discard(held.release());
}

/// Discards an object that is handed over: discard(std::exchange(field, nullptr)).
template <class T>
void discard(marked<T>&& held) noexcept {
  discard(held.release());
}

static_assert(sizeof(marked<int>) == sizeof(int*));

}  // namespace isotherm
