// guide<T>: creation, dereference, replacement (OBASE 3.2, 3.3; the fast path is described at
// get()).
#pragma once

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "guide/object.hpp"
#include "guide/registry.hpp"
#include "guide/word.hpp"
#include "sync/epoch.hpp"
#include "sync/retire.hpp"
#include "sync/scope.hpp"

namespace isotherm {

using sync::scope;

namespace guides {

/// Slow path of a dereference: one read-modify-write marks, vetoes a copy in flight and, when the
/// scope is tracking, counts. The word returned holds the address that this very operation found
/// and kept (pitfall 1); null when the guide holds nothing.
[[gnu::noinline]] word mark(base::atomic<word>& slot, const scope& inside) noexcept;

/// Replaces what `slot` holds, keeping its counts. Returns the old word.
word exchange(base::atomic<word>& slot, word fresh) noexcept;

/// As exchange(), when the slot still holds the object at `expected`; else false.
bool compare_exchange(base::atomic<word>& slot, const void* expected, word fresh) noexcept;

/// Empties `slot`, which the caller has to itself, and makes everybody forget it: when it returns
/// no collector and no closing scope reads or writes the slot (pitfalls 4 and 5). Returns the old
/// word.
word vacate(base::atomic<word>& slot) noexcept;

}  // namespace guides

/// Owning pointer to a movable object. One word. Movable, not copyable.
///
/// Thread-safety: get(), replace(), compare_replace(), is_null() and holds() may run concurrently,
/// each inside a scope. Construction, moving, destruction and assignment are for one thread that
/// has the guide to itself (a node being built, or a node that retire() gives back); beside the
/// collector they are always safe.
template <class T>
class guide {
 public:
  guide() noexcept = default;

  /// Takes over `object`.
  explicit guide(owned<T>&& object) {
    if (object) adopt(std::move(object));
  }
  guide(guide&& other) noexcept { take(other); }
  guide& operator=(guide&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  guide(const guide&) = delete;
  guide& operator=(const guide&) = delete;
  ~guide() { reset(); }

  /// Address of the object, valid until the outermost open scope of this thread closes; null when
  /// the guide holds nothing. Marks the object as accessed. Fast path (accessed already, no copy in
  /// flight, no migration epoch): a load, two tests and a mask; nothing is written.
  T* get(const scope& inside) const noexcept {
    ISO_ASSERT(scope::is_open(), "a guide is dereferenced outside of every scope");
    // Acquire: pairs with the release of exchange() and of the collector's commit; the object's
    // bytes are seen.
    const guides::word w = slot_.load_acquire();
    if (guides::needs_no_mark(w) && !inside.is_tracking()) [[likely]] {
      return static_cast<T*>(guides::pointer_of(w));
    }
    if (guides::is_null(w)) return nullptr;
    return static_cast<T*>(guides::pointer_of(guides::mark(slot_, inside)));
  }

  /// As get(), but not an access where that can be had: while no move may happen the object is not
  /// marked, so that looking at everything (SCAN) does not make everything warm; only that a page
  /// of COLD came back is noted, so that it leaves again. While moves may happen the mark is what
  /// protects the object, and is made.
  T* peek(const scope& inside) const noexcept {
    if (inside.is_tracking() || sync::moves_may_happen()) return get(inside);
    const guides::word w = slot_.load_acquire();
    if (guides::is_null(w)) return nullptr;
    if (guides::heap_of(w) == heap::kind::cold) heap::note_cold_use(guides::pointer_of(w));
    return static_cast<T*>(guides::pointer_of(w));
  }

  /// Dereference inside the scope that this thread has open.
  T& operator*() const noexcept { return *operator->(); }
  T* operator->() const noexcept {
    ISO_ASSERT(scope::is_open(), "a guide is dereferenced outside of every scope");
    const scope nested;
    return get(nested);
  }

  /// True when the guide holds nothing. Not an access.
  bool is_null() const noexcept { return guides::is_null(slot_.load_acquire()); }
  explicit operator bool() const noexcept { return !is_null(); }
  /// True when the guide holds the object at `address`. Not an access; may be stale at once.
  bool holds(const T* address) const noexcept {
    return guides::pointer_of(slot_.load_acquire()) == address;
  }

  /// Heap in which a successor of this guide's object should be born: HOT when the object is hot
  /// (inherited temperature), else NEW. Not an access.
  heap::kind birth_heap() const noexcept {
    const guides::word w = slot_.load_acquire();
    return !guides::is_null(w) && guides::heap_of(w) == heap::kind::hot ? heap::kind::hot
                                                                        : heap::kind::fresh;
  }

  /// Puts `fresh` (may be empty) in the place of the object, which is retired. Counts as an access.
  void replace(const scope&, owned<T>&& fresh) noexcept {
    if (!fresh && was_never_filled()) return;
    const guides::word next = word_of(fresh);
    const bool holds_one = fresh.release() != nullptr;
    retire_object(guides::exchange(slot_, next));
    if (holds_one) guides::register_slot(&slot_);
  }

  /// As replace(), when the guide still holds the object at `expected` (obtained in this scope);
  /// otherwise false, and `fresh` keeps its object.
  bool compare_replace(const scope&, const T* expected, owned<T>& fresh) noexcept {
    if (!fresh && !expected && was_never_filled()) return true;
    if (!guides::compare_exchange(slot_, expected, word_of(fresh))) return false;
    retire_object(guides::make_word(expected, heap::kind::fresh));
    if (fresh.release()) guides::register_slot(&slot_);
    return true;
  }

  /// Frees the object at once. For a guide that no scope can reach.
  void reset() noexcept {
    require_movable<T>();  // the destructor calls this: also a guide that is never filled is
                           // refused
    if (slot_.load_relaxed() == 0) return;
    const guides::word w = guides::vacate(slot_);
    if (!guides::is_null(w)) destroy(guides::pointer_of(w));
  }

  /// The raw slot, for tests and for the collector's own tools.
  base::atomic<guides::word>& slot() const noexcept { return slot_; }

 private:
  /// A guide that never held an object is in no bitmap, and must not look as if it were (kVacant):
  /// unregistering it would touch a block that nothing keeps.
  bool was_never_filled() const noexcept { return slot_.load_acquire() == 0; }
  static guides::word word_of(const owned<T>& object) noexcept {
    require_movable<T>();
    return object ? guides::make_word(object.get(), object.where()) | guides::kAccessed
                  : guides::kVacant;
  }
  static void destroy(void* object) noexcept {
    std::destroy_at(static_cast<T*>(object));
    heap::deallocate(object);
  }
  static void retire_object(guides::word old) noexcept {
    if (guides::is_null(old)) return;
    void* const object = guides::pointer_of(old);
    sync::retire(object, &destroy, heap::size_unless_cold(object));
  }
  void adopt(owned<T>&& object) noexcept {
    require_movable<T>();
    slot_.store_release(guides::make_word(object.get(), object.where()));
    object.release();
    guides::register_slot(&slot_);
  }
  void take(guide& other) noexcept {
    if (other.slot_.load_relaxed() == 0) return;
    const guides::word w = guides::vacate(other.slot_);
    if (guides::is_null(w)) return;
    slot_.store_release(guides::carried(w));
    guides::register_slot(&slot_);
  }

  mutable base::atomic<guides::word> slot_{0};
};

/// A T in NEW, held by a guide. The guide is null when memory is exhausted.
template <class T, class... Arguments>
guide<T> make_guide(Arguments&&... arguments) {
  return guide<T>(make_object_in<T>(heap::kind::fresh, std::forward<Arguments>(arguments)...));
}

/// A T that is to replace what `predecessor` holds, born where its predecessor's temperature says.
template <class T, class... Arguments>
owned<T> make_object(const guide<T>& predecessor, Arguments&&... arguments) {
  return make_object_in<T>(predecessor.birth_heap(), std::forward<Arguments>(arguments)...);
}

/// A byte string that is to replace what `predecessor` holds.
inline owned<bytes> make_bytes(const guide<bytes>& predecessor, std::string_view content) {
  return make_bytes_in(predecessor.birth_heap(), content);
}

static_assert(sizeof(guide<bytes>) == 8);

}  // namespace isotherm
