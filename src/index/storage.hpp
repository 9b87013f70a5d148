// How an index stores its keys and values, and where its nodes lie: by guides, which the collector
// may move, or by plain pointers and the ordinary allocator, which is the baseline. Indexes are
// templates over their storage, so that the baseline pays nothing for management.
//
//   managed      pointer: guide<bytes>    nodes in NODE     successors of hot values begin in HOT
//   unmanaged    pointer: bytes*          nodes by malloc   values by malloc
//   placed<...>  as one of these          nodes in fast or slow memory (placement/)
//
// An index is made with a storage object. That object is a handle: copies of it mean the same
// memory, and each part of an index keeps one of its own. The first two are empty and take no room;
// the third, for trees, holds a pointer to who chooses a tier for each node, counts the uses of
// leaves, and lets nodes be relocated. What it adds to a search costs the others nothing.
//
// A node is allocated for a level: the number of nodes above it, as the search for its place has
// counted them, 0 for the root. Levels are counted from the top because that works for all trees
// alike (SINLK, 4.1, allocates by this number); heights above the leaves would not do in ART, where
// siblings differ in height. A level is right when the node is allocated, and not kept up to date:
// when the root of a B+tree splits, its two halves are allocated for level 1, where their children
// were allocated too.
//
// Freeing is static, because sync::retire() frees most nodes, and keeps only a function and an
// address for each. A storage that has several kinds of memory must tell them apart by address, as
// the heap does its ranges.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "base/atomic.hpp"
#include "guide/guide.hpp"
#include "guide/unreadable.hpp"
#include "heap/cold/misses.hpp"
#include "heap/node.hpp"
#include "heap/readable.hpp"
#include "index/content.hpp"
#include "placement/emulation.hpp"
#include "placement/node_memory.hpp"
#include "placement/placer.hpp"

namespace isotherm::index {

using placement::node_place;

/// Whether an access counts as a use of the object. A walk over all objects peeks; otherwise it
/// would make all of them warm (guide::peek()).
enum class access : unsigned char { use, peek };

template <class Pointer>
bytes* read(const Pointer& held, const scope& inside, access how) noexcept {
  return how == access::use ? held.get(inside) : held.peek(inside);
}

/// The value of a pair: a walk does not read those that have left DRAM, but gets
/// guides::absent_bytes() in their place.
template <class Pointer>
bytes* read_value(const Pointer& held, const scope& inside, access how) noexcept {
  return how == access::use ? held.get(inside) : held.look(inside);
}

/// A guide that returns guides::unreadable_bytes() in place of an object that cannot be read.
class guide_pointer : public guide<bytes> {
 public:
  using guide<bytes>::guide;
  guide_pointer(relocation how, guide_pointer& from) noexcept : guide<bytes>(how, from) {}

  bytes* get(const scope& inside) const noexcept {
    bytes* const found = guide<bytes>::get(inside);
    return found ? found : stand_in(inside);
  }
  bytes* peek(const scope& inside) const noexcept {
    bytes* const found = guide<bytes>::peek(inside);
    return found ? found : stand_in(inside);
  }
  /// As peek(), of what is in DRAM; else guides::absent_bytes().
  bytes* look(const scope& inside) const noexcept {
    // As in peek(): while moves may happen it is the mark that keeps the object where it is.
    const bool is_marked = inside.is_tracking() || sync::moves_may_happen();
    const guides::word w = is_marked ? guides::mark(slot(), inside) : slot().load_acquire();
    if (guides::is_in_cold(w) && heap::is_out(guides::pointer_of(w))) {
      return const_cast<bytes*>(guides::absent_bytes());
    }
    return peek(inside);
  }
  /// For compare_replace(): the object, unread. Null when the guide is empty.
  const bytes* address() const noexcept {
    return static_cast<const bytes*>(guides::pointer_of(slot().load_acquire()));
  }
  [[nodiscard]] bool compare_replace(const scope& inside, const bytes* expected,
                                     owned<bytes>& next) noexcept {
    const bytes* const there = real(expected);
    return there && guide<bytes>::compare_replace(inside, there, next);
  }
  [[nodiscard]] bool compare_clear(const scope& inside, const bytes* expected) noexcept {
    const bytes* const there = real(expected);
    return there && guide<bytes>::compare_clear(inside, there);
  }

 private:
  /// What to return when a read gave null: null if the guide is empty.
  bytes* stand_in(const scope& inside) const noexcept {
    if (is_null()) [[likely]]
      return nullptr;
    const heap::read_watch reads;
    bytes* const found = guide<bytes>::get(inside);
    return reads.has_lost() ? const_cast<bytes*>(guides::unreadable_bytes()) : found;
  }
  /// The object's address if `expected` is the stand-in; null when the guide has been emptied
  /// since.
  const bytes* real(const bytes* expected) const noexcept {
    if (expected != guides::unreadable_bytes()) [[likely]]
      return expected;
    return address();
  }
};

/// What an index asks of its storage. make() and make_successor() return an empty owner when memory
/// is exhausted; the other functions end the process then.
template <class S>
concept storage =
    std::copy_constructible<S> && std::is_nothrow_destructible_v<S> &&
    requires(const S& s, const typename S::pointer& old, const content& value, std::size_t bytes,
             const node_place& place, void* node, typename S::use_count& uses) {
      typename S::read_watch;
      typename S::waiting;
      { S::kManaged } -> std::convertible_to<bool>;
      { s.make(value) } -> std::same_as<typename S::owned_bytes>;
      { s.make_successor(old, value) } -> std::same_as<typename S::owned_bytes>;
      { S::kPlaced } -> std::convertible_to<bool>;
      { uses.add() } noexcept;
      { S::touch(node, 1U) } noexcept;  // before some cache lines of it are read
      { s.allocate_node(bytes, place) } -> std::same_as<void*>;
      { s.allocate_zeroed(bytes) } -> std::same_as<void*>;  // an array where all searches begin
      { S::deallocate_node(node) } noexcept;
    };

/// Counts nothing and takes no room: in leaves that nobody places.
struct no_use_count {
  static void add() noexcept {}
};

struct managed {
  using pointer = guide_pointer;
  using owned_bytes = owned<bytes>;
  using read_watch = heap::read_watch;
  using waiting = heap::waiting;
  using use_count = no_use_count;
  static constexpr bool kManaged = true, kPlaced = false;
  static void touch(const void*, unsigned /*lines*/) noexcept {}

  owned_bytes make(const content& value) const noexcept {
    return make_in(heap::kind::newborn, value);
  }
  owned_bytes make_successor(const pointer& old, const content& value) const noexcept {
    return make_in(old.birth_heap(), value);
  }
  void* allocate_node(std::size_t bytes, const node_place&) const noexcept {
    return heap::allocate_node(bytes);
  }
  /// Large memory takes pages only as they are used.
  void* allocate_zeroed(std::size_t bytes) const noexcept {
    return heap::allocate_node_zeroed(bytes);
  }
  static void deallocate_node(void* node) noexcept { heap::deallocate_node(node); }

 private:
  static owned_bytes make_in(heap::kind birth, const content& value) noexcept {
    owned_bytes made = make_bytes_in(birth, value.size());
    if (made) value.write(made->data());
    return made;
  }
};

/// A plain pointer with the interface of a guide.
class plain_pointer {
 public:
  class owned_bytes {
   public:
    owned_bytes() noexcept = default;
    explicit owned_bytes(bytes* object) noexcept : object_(object) {}
    owned_bytes(owned_bytes&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    owned_bytes& operator=(owned_bytes&& other) noexcept {
      std::swap(object_, other.object_);
      return *this;
    }
    ~owned_bytes() { free_object(object_); }
    bytes* get() const noexcept { return object_; }
    bytes* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    bytes* release() noexcept { return std::exchange(object_, nullptr); }

   private:
    bytes* object_ = nullptr;
  };

  plain_pointer() noexcept = default;
  explicit plain_pointer(owned_bytes&& object) noexcept : object_(object.release()) {}
  plain_pointer(plain_pointer&& other) noexcept
      : object_(other.object_.exchange_acq_rel(nullptr)) {}
  plain_pointer& operator=(plain_pointer&& other) noexcept {
    if (this != &other) {
      reset();
      object_.store_release(other.object_.exchange_acq_rel(nullptr));
    }
    return *this;
  }
  ~plain_pointer() { reset(); }
  /// As those of guide.
  plain_pointer(relocation, plain_pointer& from) noexcept : object_(from.object_.load_acquire()) {}
  static void finish_relocation() noexcept {}

  bytes* get(const scope&) const noexcept { return object_.load_acquire(); }
  bytes* peek(const scope&) const noexcept { return object_.load_acquire(); }
  bytes* look(const scope& inside) const noexcept { return peek(inside); }
  const bytes* address() const noexcept { return object_.load_acquire(); }
  bool is_null() const noexcept { return object_.load_acquire() == nullptr; }
  bool holds(const bytes* address) const noexcept { return object_.load_acquire() == address; }
  [[nodiscard]] bool replace(const scope&, owned_bytes&& next) {
    if (!next) return false;
    if (bytes* old = object_.exchange_acq_rel(next.release())) retire_object(old);
    return true;
  }
  [[nodiscard]] bool compare_replace(const scope&, const bytes* expected, owned_bytes& next) {
    if (!next || !put(expected, next.get())) return false;
    next.release();
    return true;
  }
  [[nodiscard]] bool compare_clear(const scope&, const bytes* expected) {
    return put(expected, nullptr);
  }
  bool clear(const scope&) {
    bytes* const old = object_.exchange_acq_rel(nullptr);
    if (old) retire_object(old);
    return old != nullptr;
  }
  void reset() noexcept { free_object(object_.exchange_acq_rel(nullptr)); }

 private:
  bool put(const bytes* expected, bytes* next) {
    bytes* seen = const_cast<bytes*>(expected);
    if (!object_.compare_exchange_acq_rel(seen, next)) return false;
    if (seen) retire_object(seen);
    return true;
  }
  /// A bytes*, or null; for sync::retire().
  static void free_object(void* object) noexcept {
    if (object) std::free(bytes::memory_outside(static_cast<bytes*>(object)));
  }
  static void retire_object(bytes* old) noexcept {
    sync::retire(old, &free_object, bytes::bytes_outside(old->size()));
  }
  base::atomic<bytes*> object_{nullptr};
};

struct unmanaged {
  using pointer = plain_pointer;
  using owned_bytes = plain_pointer::owned_bytes;
  /// As heap::read_watch; plain objects can always be read.
  struct read_watch {
    static constexpr bool has_lost() noexcept { return false; }
  };
  struct waiting {
    waiting() noexcept {}  // not trivial, as the other one: it is not an unused variable
  };
  using use_count = no_use_count;
  static constexpr bool kManaged = false, kPlaced = false;
  static void touch(const void*, unsigned /*lines*/) noexcept {}

  owned_bytes make(const content& value) const noexcept {
    void* memory = std::malloc(bytes::bytes_outside(value.size()));
    if (!memory) return {};
    auto* object = bytes::place_outside(memory, value.size());
    value.write(object->data());
    return owned_bytes(object);
  }
  owned_bytes make_successor(const pointer&, const content& value) const noexcept {
    return make(value);
  }
  void* allocate_node(std::size_t bytes, const node_place&) const noexcept {
    return checked(std::malloc(bytes));
  }
  void* allocate_zeroed(std::size_t bytes) const noexcept { return checked(std::calloc(1, bytes)); }
  static void deallocate_node(void* node) noexcept { std::free(node); }

 private:
  static void* checked(void* node) noexcept {
    ISO_CHECK(node, "out of memory for an index node");
    return node;
  }
};

/// Keys and values as `Base` holds them, nodes where a placer says. Only for trees that keep the
/// single-boundary rule (placement/tier.hpp).
template <class Base>
struct placed : Base {
  using use_count = placement::use_count;
  static constexpr bool kPlaced = true;

  explicit placed(placement::placer& chooser) noexcept : placer_(&chooser) {}
  /// Also empty when the nodes above a new entry would have no room.
  typename Base::owned_bytes make(const content& value) const noexcept {
    return placement::has_node_room() ? Base::make(value) : typename Base::owned_bytes();
  }
  void* allocate_node(std::size_t bytes, const node_place& place) const noexcept {
    return placement::allocate_node(placer_->choose(bytes, place), bytes);
  }
  static void deallocate_node(void* node) noexcept { placement::deallocate_node(node); }

 private:
  placement::placer* placer_;
};

/// For benchmarks, on a machine with one kind of memory: searches find slow nodes slow
/// (placement/emulation.hpp).
struct emulated : placed<unmanaged> {
  using placed<unmanaged>::placed;
  using use_count = placement::optional_use_count;
  static void touch(const void* node, unsigned lines) noexcept { placement::touch(node, lines); }
};

static_assert(storage<managed> && storage<unmanaged> && storage<emulated>);
static_assert(storage<placed<managed>> && storage<placed<unmanaged>>);
static_assert(std::is_empty_v<managed> && std::is_empty_v<unmanaged>);

}  // namespace isotherm::index
