// One layer of Masstree: a B+tree of slices (node.hpp). It does not know about keys, values and how
// they are stored.
//
// Searches take no lock. Writers lock the border node and go on hand over hand: a split holds both
// halves until the parent is locked, and so on upwards. Locks are taken in one order, so that there
// is no deadlock: a layer above before the one below; within a layer from left to right, then from
// children to parents.
//
// Entries move only to the right, into a new node; nodes are never merged. A node that has lost all
// its entries is unlinked, except the leftmost of its layer, which goes with the layer. The first
// node on each level is not removed before the layer, and the link to the layer from the layer
// above (or the tree) may be out of date: from any node that was once the top, parents lead to the
// present top. A search that had to climb there repairs the link. (A border node with few slots is
// alone in its layer; when it is replaced, the link is replaced too, under the lock of the layer
// above.) Where nodes are placed, relocation (relocation.hpp) replaces a node by a copy. It brings
// the link up to date first, so that no link leads to the node that goes.
#pragma once

#include <array>

#include "index/masstree/node.hpp"
#include "placement/node_memory.hpp"

namespace isotherm::index::masstree_detail {

/// Moves leaves, whose type a layer does not know, to a tier.
struct leaf_moves {
  /// Returns the link to a copy of the leaf. The collector does not know the copy's guides before
  /// settle().
  link (*copy)(link leaf, placement::tier to);
  /// Ends what copy() began, when nothing links to `from` any more, and retires `from`.
  void (*settle)(link from, link made);
};

/// Allocates nodes from a storage whose type the layer does not know. Valid as long as that storage
/// object.
class node_memory {
 public:
  /// `moves`: where nodes are placed.
  template <class Storage>
  node_memory(const Storage& storage, const leaf_moves* moves) noexcept
      : free(&Storage::deallocate_node),
        moves(moves),
        storage_(&storage),
        allocate_(
            [](const void* from, std::size_t bytes, const placement::node_place& place) noexcept {
              return static_cast<const Storage*>(from)->allocate_node(bytes, place);
            }) {}

  /// `bits` are those of the initial version.
  border* make_border(std::uint64_t bits, unsigned slots,
                      const placement::node_place& place) const {
    return ::new (allocate_(storage_, border::size_of(slots), place)) border(bits, slots);
  }
  interior* make_interior(std::uint64_t bits, placement::node_place place) const {
    place.is_inner = true;
    return ::new (allocate_(storage_, sizeof(interior), place)) interior(bits);
  }
  void (*free)(void* node) noexcept;
  const leaf_moves* moves;

 private:
  const void* storage_;
  void* (*allocate_)(const void* storage, std::size_t bytes,
                     const placement::node_place& place) noexcept;
};

/// The place of a node that takes over a part of `whole` or all of it: it is slow if `whole` is.
/// `covered`, if it is fast, will hang below it, or have the same tier.
inline placement::node_place place_of_part(const node* whole, unsigned level,
                                           const void* covered = nullptr) noexcept {
  return {.level = level, .parent = whole, .covers = {covered}};
}

/// Prefetches all lines of a node at once; a search needs most of them.
inline void prefetch_node(const node* n, std::size_t size) noexcept {
  for (std::size_t line = 0; line < size; line += base::kCacheLineBytes) {
    prefetch(reinterpret_cast<const char*>(n) + line);
  }
}

/// Returns the present top of the layer whose top was once `from`, and sets `seen` to its version.
/// Repairs `where`, the link from which `from` was read.
inline node* climb(base::atomic<link>& where, node* from, version& seen) noexcept {
  node* n = from;
  for (seen = n->state.stable(); !seen.is_root(); seen = n->state.stable()) {
    n = parent_of(n).load_acquire();
  }
  if (n != from) [[unlikely]] {
    link expected = link_to(from);
    where.compare_exchange_acq_rel(expected, link_to(n));
  }
  return n;
}

/// The present top of the layer to which `target`, of an entry of a locked node, leads. Its tier
/// stays as it is while the node that holds the entry is locked: a top is relocated under this
/// lock, and a layer that grows higher gets a top of the same tier.
inline node* present_top(link target) noexcept {
  node* n = node_of(target);
  while (!n->state.stable().is_root()) n = parent_of(n).load_acquire();
  return n;
}

/// Whether an entry of a locked node, or of one that no other thread changes, leads to fast memory.
inline bool leads_to_fast(link target) noexcept {
  return placement::is_fast(is_leaf(target) ? leaf_address(target) : present_top(target));
}

/// Hook of a search, called for each node before it is read; this one does nothing.
struct no_touch {
  void operator()(const node*) const noexcept {}
};

/// Goes down from `n` to the border node for `slice`, and adds the number of steps to `level`;
/// null: something has changed, start again.
template <class Touch = no_touch>
border* try_descend(node* n, std::uint64_t slice, version& seen, unsigned& level,
                    const Touch& touch = {}) noexcept {
  while (!seen.is_border()) {
    node* const child = static_cast<interior*>(n)->child_of(slice);
    touch(child);
    prefetch_node(child, border::size_of(kSlots));
    const version below = child->state.stable();
    // This node must still have led to the child when the child's version was read.
    if (seen.differs(n->state.now())) [[unlikely]] {
      const version again = n->state.stable();
      if (seen.has_split(again)) return nullptr;
      seen = again;
      continue;
    }
    if (below.is_deleted()) return nullptr;
    n = child;
    seen = below;
    ++level;
  }
  return static_cast<border*>(n);
}

/// The border node where `slice` is, or would be, with its version; null when the layer is gone.
/// The layer's top was read from `where` as `top`. `level` is first that of this top, and on return
/// that of the node found.
template <class Touch = no_touch>
border* find_border(base::atomic<link>& where, link top, std::uint64_t slice, version& seen,
                    unsigned& level, const Touch& touch = {}) noexcept {
  touch(node_of(top));
  prefetch_node(node_of(top), border::size_of(kSomeSlots));
  const unsigned level_of_top = level;
  for (backoff wait;; wait()) {
    node* const n = climb(where, node_of(top), seen);
    if (seen.is_deleted()) return nullptr;
    level = level_of_top;
    if (border* found = try_descend(n, slice, seen, level, touch)) return found;
  }
}
inline border* find_border(base::atomic<link>& where, link top, std::uint64_t slice,
                           version& seen) noexcept {
  unsigned level = 0;
  return find_border(where, top, slice, seen, level);
}

/// Locks the parent of a node whose lock is held, and returns it; null for the top.
inline interior* lock_parent(node* n) noexcept {
  if (n->state.now().is_root()) return nullptr;
  for (;;) {
    interior* const p = parent_of(n).load_acquire();
    p->state.lock();
    if (parent_of(n).load_acquire() == p) return p;
    p->state.unlock();
  }
}

/// Replaces the full border node `small`, the only one of the layer to which the entry `sought` of
/// `upper` leads, by one with more slots. Does nothing when that is no longer so. `level` is that
/// of `small`.
void grow_border(border* upper, wanted sought, border* small, const node_memory& memory,
                 unsigned level);

/// Adds an entry to the locked node, which does not have it yet, and unlocks the node. Splits it
/// when it is full; a node of fewer than 15 slots must not be full. `level` is that of `at`, as a
/// search counted it.
void insert_entry(border* at, wanted sought, link target, const node_memory& memory,
                  unsigned level);

/// The outcome of an attempt to remove an empty part of the tree.
enum class removal : std::uint8_t {
  done,
  useless,  ///< it is not empty, or must stay
  changed   ///< other threads are changing it: look again
};

/// Unlinks and retires `n` when it is empty and not the leftmost of its layer.
removal remove_border(border* n, const node_memory& memory);

/// Removes the entry `sought`, which leads to a layer, and retires that layer when it is empty.
removal remove_layer(border* upper, wanted sought, const node_memory& memory);

}  // namespace isotherm::index::masstree_detail
