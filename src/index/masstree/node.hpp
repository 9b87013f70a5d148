// Nodes of Masstree (Mao, Kohler, Morris, "Cache craftiness for fast multicore key-value storage",
// EuroSys 2012, 4.1 and 4.2), and what one node can do.
//
//   border    version | permutation | 15 ranks | next, previous, parent, uses | 15 slices, 15 links
//   interior  version | count       |            15 slices, 16 children                  | parent
//
// A layer begins with a border node of 4 slots, which is replaced by one of 8 and then one of 15 as
// keys are added: most layers stay small, and those that lead to the next slice of a long common
// prefix always have one entry.
//
// A slice is eight bytes of the key as a number. Beside it stands the rank: the number of bytes
// that the key has left in this layer, 0 to 8, or 9 when it goes on. Entries are ordered by (slice,
// rank), which is the order of the keys' bytes: with equal slices the shorter key is a prefix of
// the longer. All entries of one slice stay in one border node (there are at most ten), so that
// interior nodes know slices only.
//
// A link is 0, a leaf's address | 1, or the address of the top node of the layer below (rank 9
// only). The paper stores in one field what kind of link another field holds, and so needs a third
// state, "unstable", for the moment when a leaf becomes a layer; with the kind in the link itself
// that change is one store. The key's suffix is not kept in the node: the leaf's key object has it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/atomic.hpp"
#include "index/common.hpp"
#include "index/key_slice.hpp"
#include "index/masstree/permutation.hpp"
#include "index/masstree/version.hpp"
#include "placement/tier.hpp"

namespace isotherm::index::masstree_detail {

using link = std::uintptr_t;

inline constexpr unsigned kGoesOn = 9;     ///< rank of a key with more than 8 bytes left
inline constexpr unsigned kNoSlot = 0xff;  ///< no entry

/// A layer's part of a key, by which the layer orders keys.
struct wanted {
  /// The part of `key` from `depth` (<= its size) on.
  wanted(std::string_view key, std::size_t depth) noexcept
      : slice(key_slice(key, depth)),
        rank(static_cast<std::uint8_t>(std::min<std::size_t>(key.size() - depth, kGoesOn))) {}
  wanted(std::uint64_t s, std::uint8_t r) noexcept : slice(s), rank(r) {}
  friend auto operator<=>(const wanted&, const wanted&) = default;

  std::uint64_t slice;
  std::uint8_t rank;
};

struct interior;

/// The first part of both kinds of nodes.
struct node {
  explicit node(std::uint64_t bits) noexcept : state(bits) {}
  bool is_border() const noexcept { return state.now().is_border(); }

  version_word state;
};

/// Followed in memory by `capacity` slices and as many links. The fields of a slot are written
/// before the permutation that makes the slot live. `next` is guarded by the node's own lock,
/// `previous` by the lock of the node to which it points (null stays null), `parent` by the
/// parent's lock.
struct border : node {
  using word = base::atomic<std::uint64_t>;

  border(std::uint64_t bits, unsigned slots) noexcept
      : node(bits | version::kBorder), capacity(static_cast<std::uint8_t>(slots)) {
    for (unsigned i = 0; i < 2 * slots; ++i) ::new (words() + i) word(0);
  }
  static constexpr std::size_t size_of(unsigned slots) noexcept {
    return sizeof(border) + sizeof(word) * 2 * slots;
  }

  wanted entry(unsigned slot) const noexcept {
    return {words()[slot].load_acquire(), ranks[slot].load_acquire()};
  }
  /// To copy or follow it takes an acquire also under the lock: a search repairs a link without one
  /// (climb()), and its release publishes the top that the link leads to from then on.
  base::atomic<link>& link_at(unsigned slot) noexcept { return words()[capacity + slot]; }
  permutation order() const noexcept { return permutation::from_word(places.load_acquire()); }
  bool is_full(permutation now) const noexcept { return now.count() == capacity; }
  /// Slot of the entry, or kNoSlot.
  unsigned find(permutation now, wanted sought) const noexcept;
  /// Number of entries before `sought`: the place where it is, or would be.
  unsigned place_of(permutation now, wanted sought) const noexcept;

  // Only for the thread that holds the lock, or that alone can reach the node.

  void fill(unsigned slot, wanted sought, link target) noexcept {
    words()[slot].store_release(sought.slice);
    ranks[slot].store_release(sought.rank);
    link_at(slot).store_release(target);
  }
  /// Adds an entry that is not there to a node that is not full. A slot that was used before may
  /// still be read, so that its reuse counts as a change.
  void insert(wanted sought, link target) noexcept;
  /// The link stays in its slot for readers that are about to load it.
  void remove(unsigned place) noexcept { set_order(order().removed(place, capacity)); }
  void set_order(permutation p) noexcept { places.store_release(p.word()); }

  word places{permutation().word()};
  base::atomic<std::uint8_t> ranks[kSlots];
  const std::uint8_t capacity;
  base::atomic<border*> next{nullptr}, previous{nullptr};
  base::atomic<interior*> parent{nullptr};
  placement::use_count uses;  ///< how often searches ended here, where nodes are placed

 private:
  word* words() noexcept { return reinterpret_cast<word*>(this + 1); }
  const word* words() const noexcept { return reinterpret_cast<const word*>(this + 1); }
  /// Bit i: slot i, live or not, holds `slice`.
  template <unsigned Slots>
  unsigned equal_slots(std::uint64_t slice) const noexcept;
};
static_assert(std::is_same_v<link, std::uint64_t>);
inline constexpr unsigned kFewSlots = 4, kSomeSlots = 8;

/// Slices below slices[i] belong to the children up to children[i]; unused slices hold the greatest
/// number.
struct interior : node {
  explicit interior(std::uint64_t bits) noexcept : node(bits) {
    for (auto& s : slices) s.store_relaxed(~std::uint64_t{0});
  }

  /// The child under which the keys of `slice` are. Optimistic callers validate it before use.
  node* child_of(std::uint64_t slice) const noexcept {
    unsigned less = 0;
    for (const auto& s : slices) less += s.load_acquire() <= slice;
    return children[std::min(less, count.load_acquire())].load_acquire();
  }

  // Only for the thread that holds the lock, or that alone can reach the node.

  bool is_full() const noexcept { return count.load_relaxed() == kSlots; }
  unsigned place_of(const node* child) const noexcept {
    unsigned i = 0;
    while (children[i].load_relaxed() != child) ++i;
    return i;
  }
  /// Inserts `right`, whose keys begin at `separator`, behind the child at `place`. Not for a full
  /// node.
  void insert(unsigned place, std::uint64_t separator, node* right) noexcept;
  /// Removes the child at `place`, whose range falls to a neighbour. Not for the only child.
  void remove(unsigned place) noexcept;

  base::atomic<std::uint32_t> count{0};  ///< slices in use; one less than children
  base::atomic<std::uint64_t> slices[kSlots];
  base::atomic<node*> children[kSlots + 1];
  base::atomic<interior*> parent{nullptr};
};
inline constexpr std::size_t kLineBytes = base::kCacheLineBytes;
static_assert(border::size_of(kFewSlots) <= 2 * kLineBytes);
static_assert(border::size_of(kSomeSlots) <= 3 * kLineBytes);
static_assert(border::size_of(kSlots) <= 5 * kLineBytes);
static_assert(sizeof(interior) <= 5 * kLineBytes);

inline base::atomic<interior*>& parent_of(node* n) noexcept {
  return n->is_border() ? static_cast<border*>(n)->parent : static_cast<interior*>(n)->parent;
}

inline bool is_leaf(link l) noexcept { return (l & 1) != 0; }
inline node* node_of(link l) noexcept { return reinterpret_cast<node*>(l); }
inline link link_to(node* top) noexcept { return reinterpret_cast<link>(top); }
inline const void* leaf_address(link l) noexcept {
  return reinterpret_cast<const void*>(l & ~link{1});
}

template <unsigned Slots>
unsigned border::equal_slots(std::uint64_t slice) const noexcept {
  unsigned equal = 0;
  for (unsigned slot = Slots; slot-- > 0;) {
    equal = 2 * equal + unsigned{words()[slot].load_acquire() == slice};
  }
  return equal;
}

inline unsigned border::find(permutation now, wanted sought) const noexcept {
  // Compares all slots without branches, free ones too, and then checks that the one found is live:
  // faster than a binary search, whose branches cannot be predicted.
  unsigned equal = capacity == kSlots       ? equal_slots<kSlots>(sought.slice)
                   : capacity == kSomeSlots ? equal_slots<kSomeSlots>(sought.slice)
                                            : equal_slots<kFewSlots>(sought.slice);
  for (; equal != 0; equal &= equal - 1) {
    const auto slot = static_cast<unsigned>(std::countr_zero(equal));
    if (ranks[slot].load_acquire() == sought.rank && now.holds(slot)) return slot;
  }
  return kNoSlot;
}

inline unsigned border::place_of(permutation now, wanted sought) const noexcept {
  unsigned place = 0;
  while (place < now.count() && entry(now[place]) < sought) ++place;
  return place;
}

}  // namespace isotherm::index::masstree_detail
