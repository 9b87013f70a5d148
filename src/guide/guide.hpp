// guide<T>: creation, dereference, replacement (OBASE 3.2, 3.3; the fast path is described at
// get()).
#pragma once

#include <cstdint>
#include <expected>
#include <utility>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "guide/access.hpp"
#include "guide/object.hpp"
#include "guide/registry.hpp"
#include "guide/word.hpp"
#include "heap/cold/read.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "sync/epoch.hpp"
#include "sync/retire.hpp"
#include "sync/scope.hpp"

namespace isotherm {

using sync::scope;

namespace guides {

/// Whether guide words hold counts. Relaxed: a scope that counts has entered a migration epoch,
/// which begins after the change; other scopes count nothing.
bool are_counted() noexcept;
/// Whether a scope counts the object of `w`, or a count stayed behind.
bool is_counted(word w) noexcept;
/// For the collector, while no scope counts. Bits that words held before have another meaning now:
/// clear their histories.
void use_words_for(word_use use) noexcept;

/// Slow path of a dereference: one read-modify-write marks, vetoes a copy in flight and, when the
/// scope is tracking, counts. The word returned holds the address that this very operation found
/// and kept (pitfall 1); null when the guide holds nothing.
[[gnu::noinline]] word mark(base::atomic<word>& slot, const scope& inside) noexcept;

/// Whether the user of an object may write to it where it lies (write_in_place()).
enum class stores : std::uint8_t { none, allowed };

/// Dereference of a slot that was seen to hold `seen`, where the fast path does not do: marks it if
/// need be, and finds an object of COLD (fetched.hpp). Null when the guide holds nothing, or the
/// object cannot be had; `inside` notes why.
[[gnu::noinline]] void* reach(base::atomic<word>& slot, word seen, access& inside,
                              stores may_follow) noexcept;
/// Does the work of reach(slot, seen, access) for a thread that waits. A read that a fetcher hands
/// over serves it.
[[gnu::noinline]] void* reach(base::atomic<word>& slot, word seen, const scope& inside,
                              stores may_follow) noexcept;
/// Does the work of guide::peek() for an object of COLD.
[[gnu::noinline]] void* peek_in_cold(base::atomic<word>& slot, word seen, access& inside,
                                     stores may_follow) noexcept;

/// Whether the object of a word lies in COLD.
inline bool is_in_cold(word w) noexcept {
  if (is_null(w)) return false;
  if (!has_left(w)) [[likely]]
    return heap_of(w) == heap::kind::cold;
  return heap::range_of(heap::kind::cold).contains(pointer_of(w));
}
/// Dereference without waiting for what has left DRAM. Null as reach().
std::expected<void*, heap::miss> try_reach(base::atomic<word>& slot, const scope& inside);

/// Calls `destroy` with the bytes of an object that goes, or with a copy of them where it has left
/// DRAM: which may wait for the disk. Not at all where the disk does not give them.
void destroy_object(void* gone, void (*destroy)(void*) noexcept) noexcept;

/// Replaces what `slot` holds, keeping its counts, or its history. Returns the old word.
word exchange(base::atomic<word>& slot, word next) noexcept;

/// Like exchange(), when the slot still holds the object at `expected`; else false.
bool compare_exchange(base::atomic<word>& slot, const void* expected, word next) noexcept;

/// Empties `slot`, which the caller has to itself, and makes everybody forget it: when it returns
/// no collector and no closing scope reads or writes the slot (pitfalls 4 and 5). Returns the old
/// word.
word vacate(base::atomic<word>& slot) noexcept;

/// Throws std::bad_alloc, also for programs that are built without exceptions, which end there.
[[noreturn]] void throw_bad_alloc();

/// The word of an object that vacate() took out of one slot, for another.
word carry(word w) noexcept;

/// Takes the object of `from` out of the collector's reach for a slot that is to take the place of
/// `from`, and returns the word for that slot. `from` keeps its word: scopes that found it before
/// may go on reading there. See guide's constructor for relocation.
word leave_to_relocated(base::atomic<word>& from) noexcept;

/// `made`, the word of an object just made, as `slot` takes it over. The thread that made the
/// object may have its address from the `owned`, and use it until its scope closes: where moves may
/// happen the object stays until then (its accessed bit vetoes a move; a scope that counts has
/// counted it). If none may, a collector that starts later waits for the scope.
word kept_for_maker(base::atomic<word>& slot, word made) noexcept;

}  // namespace guides

/// Chooses the constructor of a guide whose node takes the place of another node.
struct relocation {};

/// Owning pointer to a movable object. One word. Movable, not copyable.
///
/// Thread-safety: get(), replace(), clear(), their compare_ forms, is_null() and holds() may run
/// concurrently, each inside a scope. Construction, moving, destruction and assignment are for one
/// thread that has the guide to itself (a node being built, or a node that retire() gives back);
/// beside the collector they are always safe.
template <class T>
class guide {
 public:
  /// T, or, of a guide<U[]>, array<U>.
  using object = guides::held_t<T>;

  guide() noexcept = default;

  /// Takes over `object`.
  explicit guide(owned<T>&& made) {
    if (made) adopt(std::move(made));
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

  /// The first half of a relocation: a node is replaced by a copy of itself elsewhere, while scopes
  /// that have found it go on reading it. Takes over the object of `from`, the guide in the old
  /// node, which keeps its word for those scopes. The caller
  /// - keeps writers away from both guides until finish_relocation() has returned,
  /// - links the new node in the place of the old one in between,
  /// - retires the old node's memory without running the destructor of `from`.
  /// Until no scope is left that may read `from`, the object stays where it is: `from` says that it
  /// has left, so that no thread moves it by way of `from`, and no collector knows the new slot
  /// before the old node is unlinked; an object that moves by way of it later has first been
  /// through a scan and a grace period. For the protocol "veto" alone: counts taken in the old slot
  /// would be unknown in the new one. An object that may be stored to comes to HOT first where it
  /// lies in COLD, and stays where it is otherwise: scopes that have `from` could not bring it out
  /// of COLD any more.
  guide(relocation, guide& from) noexcept {
    if constexpr (is_immutable<object>::value) {
      slot_.store_relaxed(guides::leave_to_relocated(from.slot_));
    } else {
      const scope inside;  // what was looked at in it does not go to COLD
      from.peek(inside);
      slot_.store_relaxed(guides::leave_to_relocated(from.slot_));
    }
  }
  /// The second half, when the old node is unlinked.
  void finish_relocation() noexcept {
    if (slot_.load_relaxed() != 0) guides::register_slot(&slot_);
  }

  /// Address of the object, valid until the outermost open scope of this thread closes; null when
  /// the guide holds nothing, or its object cannot be read from COLD's file. Marks the object as
  /// accessed. An object that lies in COLD in a file comes back to HOT for it, but for one of an
  /// immutable type that was not written yet. Fast path (accessed already, not in COLD, no copy in
  /// flight, no migration epoch): a load, two tests and a mask; nothing is written.
  object* get(const scope& inside) const noexcept {
    ISO_ASSERT(scope::is_open(), "a guide is dereferenced outside of every scope");
    // Acquire: pairs with the release of exchange() and of the collector's commit; the object's
    // bytes are seen.
    const guides::word w = slot_.load_acquire();
    if (guides::reads_directly(w) && !inside.is_tracking()) [[likely]] {
      return static_cast<object*>(guides::pointer_of(w));
    }
    return static_cast<object*>(guides::reach(slot_, w, inside, may_be_stored_to()));
  }

  /// Like get(scope), but `inside` says how an object that has left DRAM is met, and keeps why null
  /// is returned: its result() is complete when the guide holds nothing.
  object* get(access& inside) const noexcept {
    const guides::word w = slot_.load_acquire();  // as in get(scope)
    if (guides::reads_directly(w) && !inside.scope().is_tracking()) [[likely]] {
      return static_cast<object*>(guides::pointer_of(w));
    }
    return static_cast<object*>(guides::reach(slot_, w, inside, may_be_stored_to()));
  }

  /// Like get(), but counts as no use if possible: while no move may happen the object is not
  /// marked, so that looking at everything (SCAN) does not make everything warm. While moves may
  /// happen the mark protects the object, and is made; so it is if the object has left DRAM.
  object* peek(access& inside) const noexcept {
    if (inside.scope().is_tracking() || sync::moves_may_happen()) return get(inside);
    const guides::word w = slot_.load_acquire();
    if (!guides::is_in_cold(w)) return static_cast<object*>(guides::pointer_of(w));
    return static_cast<object*>(guides::peek_in_cold(slot_, w, inside, may_be_stored_to()));
  }
  object* peek(const scope& inside) const noexcept {
    if (inside.is_tracking() || sync::moves_may_happen()) return get(inside);
    const guides::word w = slot_.load_acquire();
    if (!guides::is_in_cold(w)) return static_cast<object*>(guides::pointer_of(w));
    access waits;
    return static_cast<object*>(guides::peek_in_cold(slot_, w, waits, may_be_stored_to()));
  }

  /// Like get(scope), but does not wait for an object that this process has made leave DRAM:
  /// returns the miss, to be read by a fetcher (guide/fetcher.hpp), after which the guide is to be
  /// looked up again. Also for one thread among others that use get(). Only for types that are
  /// immutable.
  std::expected<object*, heap::miss> try_get(const scope& inside) const {
    static_assert(is_immutable<object>::value,
                  "isotherm: an object that is read from COLD must not be written where it "
                  "lies. Specialise isotherm::is_immutable<T> if T never is, or use get().");
    auto found = guides::try_reach(slot_, inside);
    if (!found) return std::unexpected(std::move(found.error()));
    return static_cast<object*>(*found);
  }

  /// Dereference inside the scope that this thread has open.
  object& operator*() const noexcept { return *operator->(); }
  object* operator->() const noexcept {
    ISO_ASSERT(scope::is_open(), "a guide is dereferenced outside of every scope");
    const scope nested;
    return get(nested);
  }

  /// True when the guide holds nothing. Not an access.
  bool is_null() const noexcept { return guides::is_null(slot_.load_acquire()); }
  explicit operator bool() const noexcept { return !is_null(); }
  /// True when the guide holds the object at `address`. Not an access; may be stale at once.
  bool holds(const object* address) const noexcept {
    return guides::pointer_of(slot_.load_acquire()) == address;
  }

  /// Heap in which a successor of this guide's object should be born: HOT when the object is hot
  /// (inherited temperature), else NEW. Not an access.
  heap::kind birth_heap() const noexcept {
    const guides::word w = slot_.load_acquire();
    return !guides::is_null(w) && guides::heap_of(w) == heap::kind::hot ? heap::kind::hot
                                                                        : heap::kind::newborn;
  }

  /// Puts `made` in the place of the object, which is retired. Counts as an access. False, and the
  /// guide keeps what it holds, when `made` is empty: its making found no memory. To empty a guide
  /// is clear().
  [[nodiscard]] bool replace(const scope&, owned<T>&& made) noexcept {
    if (!made) return false;
    const guides::word next = word_of(made);
    made.release();
    retire_object(guides::pointer_of(guides::exchange(slot_, next)));
    guides::register_slot(&slot_);
    return true;
  }

  /// Like replace(), when the guide still holds the object at `expected` (obtained in this scope);
  /// otherwise (it was replaced, or has come back from COLD for another thread), and when `made` is
  /// empty, false, and `made` keeps its object.
  [[nodiscard]] bool compare_replace(const scope&, const object* expected,
                                     owned<T>& made) noexcept {
    if (!made || !guides::compare_exchange(slot_, expected, word_of(made))) return false;
    retire_object(expected);
    made.release();
    guides::register_slot(&slot_);
    return true;
  }

  /// Empties the guide; its object, which is not read, is retired. False: it was empty.
  bool clear(const scope&) noexcept {
    if (was_never_filled()) return false;
    const void* const old = guides::pointer_of(guides::exchange(slot_, guides::kVacant));
    retire_object(old);
    return old != nullptr;
  }

  /// Like clear(), when the guide still holds the object at `expected` (obtained in this scope, not
  /// null); otherwise false.
  [[nodiscard]] bool compare_clear(const scope&, const object* expected) noexcept {
    if (!guides::compare_exchange(slot_, expected, guides::kVacant)) return false;
    retire_object(expected);
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
  static consteval guides::stores may_be_stored_to() noexcept {
    return is_immutable<object>::value ? guides::stores::none : guides::stores::allowed;
  }
  static guides::word word_of(const owned<T>& made) noexcept {
    require_movable<T>();
    return guides::make_word(made.get(), made.where(), heap::object_size(made.get())) |
           guides::kAccessed;
  }
  static void destroy(void* gone) noexcept {
    if constexpr (!std::is_trivially_destructible_v<object>) {
      guides::destroy_object(
          gone, [](void* bytes) noexcept { std::destroy_at(static_cast<object*>(bytes)); });
    }
    heap::deallocate(gone);
  }
  static void retire_object(const void* gone) noexcept {
    if (gone == nullptr) return;
    sync::retire(const_cast<void*>(gone), &destroy, heap::room_of(gone));
  }
  void adopt(owned<T>&& made) noexcept {
    require_movable<T>();
    require_new_slot();
    const guides::word next =
        guides::make_word(made.get(), made.where(), heap::object_size(made.get()));
    slot_.store_release(guides::kept_for_maker(slot_, next));
    made.release();
    guides::register_slot(&slot_);
  }
  void require_new_slot() const noexcept {
    ISO_ASSERT(!guides::is_registered(&slot_),
               "a guide is made where another one's destructor did not run");
  }
  void take(guide& other) noexcept {
    if (other.slot_.load_relaxed() == 0) return;
    const guides::word w = guides::vacate(other.slot_);
    if (guides::is_null(w)) return;
    require_new_slot();
    slot_.store_release(guides::carry(w));
    guides::register_slot(&slot_);
  }

  mutable base::atomic<guides::word> slot_{0};
};

/// A T in NEW, held by a guide. The guide is null when memory is exhausted.
template <class T, class... Arguments>
guide<T> make_guide(Arguments&&... arguments) {
  return guide<T>(make_object_in<T>(heap::kind::newborn, std::forward<Arguments>(arguments)...));
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
