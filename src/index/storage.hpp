// How an index stores its keys and values, and where its nodes lie: by guides, which the collector
// may move, or by plain pointers and the ordinary allocator, which is the baseline. Indexes are
// templates over their storage, so that the baseline pays nothing for management.
//
//   managed      pointer: guide<bytes>    nodes in NODE     successors of hot values begin in HOT
//   unmanaged    pointer: bytes*          nodes by malloc   values by malloc
//   placed<...>  as one of these          nodes in fast or slow memory (placement/)
//
// An index is made with a storage object. The object is a handle: copies of it mean the same
// memory, and each part of an index keeps one of its own. The first two are empty and take no room;
// the third, for trees, holds a pointer to the placer, which chooses a tier for each node, counts
// the uses of leaves, and lets nodes be relocated. Its additions to a search cost the others
// nothing.
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
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/atomic.hpp"
#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/node.hpp"
#include "index/content.hpp"
#include "placement/node_memory.hpp"
#include "placement/placer.hpp"

namespace isotherm::index {

using placement::node_place;

/// Whether reading an object counts as a use of it. A walk over all objects peeks; otherwise it
/// would make all of them warm (guide::peek()).
enum class reading : unsigned char { use, peek };

/// The text of a key or a value; nullopt where the pointer holds none (the key was erased), and
/// where it could not be had, of which `inside` tells. Such a text equals no key and orders before
/// all.
template <class Pointer>
std::optional<std::string_view> read(const Pointer& held, access& inside,
                                     reading how = reading::use) noexcept {
  const bytes* const found = how == reading::use ? held.get(inside) : held.peek(inside);
  return found != nullptr ? std::optional(found->view()) : std::nullopt;
}

/// The value of a pair: a walk does not read those that have left DRAM.
template <class Pointer>
std::optional<std::string_view> read_value(const Pointer& held, access& inside,
                                           reading how) noexcept {
  if (how == reading::peek && !held.is_near(inside)) return std::nullopt;
  return read(held, inside, how);
}

/// A guide<bytes>, with the calls that only indexes need.
class guide_pointer : public guide<bytes> {
 public:
  using guide<bytes>::guide;
  guide_pointer(relocation how, guide_pointer& from) noexcept : guide<bytes>(how, from) {}

  /// Whether a peek needs no page that has left DRAM.
  bool is_near(access& inside) const noexcept {
    // Like peek(): while moves may happen the mark keeps the object where it is.
    const bool is_marked = inside.scope().is_tracking() || sync::moves_may_happen();
    const guides::word w = is_marked ? guides::mark(slot(), inside.scope()) : slot().load_acquire();
    return !guides::is_in_cold(w) || !heap::is_out(guides::pointer_of(w));
  }
  /// For compare_replace(): the object, unread. Null when the guide is empty.
  const bytes* address() const noexcept {
    return static_cast<const bytes*>(guides::pointer_of(slot().load_acquire()));
  }
  // Writes do not read what they replace.
  [[nodiscard]] bool replace(access& inside, owned<bytes>&& next) noexcept {
    return guide<bytes>::replace(inside.scope(), std::move(next));
  }
  [[nodiscard]] bool compare_replace(access& inside, const bytes* expected,
                                     owned<bytes>& next) noexcept {
    return guide<bytes>::compare_replace(inside.scope(), expected, next);
  }
  [[nodiscard]] bool compare_clear(access& inside, const bytes* expected) noexcept {
    return guide<bytes>::compare_clear(inside.scope(), expected);
  }
  bool clear(access& inside) noexcept { return guide<bytes>::clear(inside.scope()); }
};

/// The operations that an index asks of its storage. make() and make_successor() return an empty
/// owner when memory is exhausted; the other functions end the process then.
template <class S>
concept storage =
    std::copy_constructible<S> && std::is_nothrow_destructible_v<S> &&
    requires(const S& s, const typename S::pointer& old, const content& value, std::size_t bytes,
             const node_place& place, void* node, typename S::use_count& uses,
             placement::use_count& of_a_node, const access& inside) {
      { S::has_lost(inside) } noexcept -> std::same_as<bool>;
      { S::kManaged } -> std::convertible_to<bool>;
      { s.make(value) } -> std::same_as<typename S::owned_bytes>;
      { s.make_successor(old, value) } -> std::same_as<typename S::owned_bytes>;
      { S::kPlaced } -> std::convertible_to<bool>;
      { uses.add() } noexcept;
      { S::use_count::add_to(of_a_node) } noexcept;
      { S::touch(node, 1U) } noexcept;  // before some cache lines of it are read
      { s.allocate_node(bytes, place) } -> std::same_as<void*>;
      { s.allocate_zeroed(bytes) } -> std::same_as<void*>;  // an array where all searches begin
      { S::deallocate_node(node) } noexcept;
    };

/// Counts nothing and takes no room: in leaves that are not placed.
struct no_use_count {
  static void add() noexcept {}
  static void add_to(placement::use_count&) noexcept {}
};

struct managed {
  using pointer = guide_pointer;
  using owned_bytes = owned<bytes>;
  using use_count = no_use_count;
  static constexpr bool kManaged = true, kPlaced = false;
  /// Whether an object was met that could not be read, or is not waited for.
  static bool has_lost(const access& inside) noexcept { return inside.has_lost(); }
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
  /// Like those of guide.
  plain_pointer(relocation, plain_pointer& from) noexcept : object_(from.object_.load_acquire()) {}
  static void finish_relocation() noexcept {}

  bytes* get(access&) const noexcept { return object_.load_acquire(); }
  bytes* peek(access&) const noexcept { return object_.load_acquire(); }
  static bool is_near(access&) noexcept { return true; }
  const bytes* address() const noexcept { return object_.load_acquire(); }
  bool is_null() const noexcept { return object_.load_acquire() == nullptr; }
  bool holds(const bytes* address) const noexcept { return object_.load_acquire() == address; }
  [[nodiscard]] bool replace(access&, owned_bytes&& next) {
    if (!next) return false;
    if (bytes* old = object_.exchange_acq_rel(next.release())) retire_object(old);
    return true;
  }
  [[nodiscard]] bool compare_replace(access&, const bytes* expected, owned_bytes& next) {
    if (!next || !put(expected, next.get())) return false;
    next.release();
    return true;
  }
  [[nodiscard]] bool compare_clear(access&, const bytes* expected) {
    return put(expected, nullptr);
  }
  bool clear(access&) {
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
  using use_count = no_use_count;
  static constexpr bool kManaged = false, kPlaced = false;
  /// Plain objects can always be read.
  static constexpr bool has_lost(const access&) noexcept { return false; }
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

static_assert(storage<managed> && storage<unmanaged>);
static_assert(storage<placed<managed>> && storage<placed<unmanaged>>);
static_assert(std::is_empty_v<managed> && std::is_empty_v<unmanaged>);

}  // namespace isotherm::index
