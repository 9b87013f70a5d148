// The B+tree under btree-occ and btree-coarse, by optimistic lock coupling (Leis, Haubenschild,
// Neumann, "Optimistic lock coupling: a scalable and efficient general-purpose synchronization
// method", IEEE Data Eng. Bull. 42(1), 2019; the optimism is that of Bronson, Casper, Chafi,
// Olukotun, "A practical concurrent binary search tree", PPoPP 2010, and Cha et al., OLFIT, VLDB
// 2001).
//
// A search goes down without locks. It reads a child's version while the parent still leads to the
// child, and starts again where a version shows that it has read a node in the middle of a change.
// A writer goes down in the same way, and locks its leaf by upgrading the version that it saw. When
// the leaf is full, the topmost full node of the path is split under its own lock and that of its
// parent, which is not full then; a leaf that is left less than a quarter full is merged with a
// neighbour, and so on upwards.
//
// A node that splits or merges is replaced and marked obsolete, so that a node's range of keys
// never changes: what was read on the way down about the fences of a node stays true while the node
// lives. There are no links between leaves: a scan takes one leaf at a time, and goes on from its
// fence.
//
// A search may follow links before it has validated them: a node reached inside a scope from the
// root was linked at some moment of the scope, so that whatever its places below `count` held then
// or later was retired, if at all, after the scope opened, and is kept until it closes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/btree/node.hpp"
#include "index/common.hpp"
#include "index/index.hpp"
#include "index/storage.hpp"
#include "index/version_lock.hpp"
#include "index/walk_cursors.hpp"
#include "placement/placed_tree.hpp"

namespace isotherm::index::btree_detail {

/// Ordered by bytes. Under version_lock all operations are linearizable and thread-safe; under
/// no_version_lock the caller must keep writers apart from all others.
template <class Storage, class Latch>
class tree {
 public:
  explicit tree(const Storage& storage) : storage_(storage) {
    anchor_.children[0].store_release(make_node<leaf>(storage_, {}, std::size_t{0}));
  }
  ~tree();
  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;

  using entry = tree_entry<Storage>;

  /// Neighbouring entries, all present at one moment, and the fence at which the next ones begin.
  struct piece {
    entry* entries[kLeafCapacity];  ///< in the order of the scan
    unsigned count = 0;
    const separator* fence = nullptr;  ///< null: there are no further ones
  };
  void collect_up(access& inside, const scan_start& from, reading how, piece& out);
  /// Downwards; without `from`, from the greatest key.
  void collect_down(access& inside, const std::optional<scan_start>& from, piece& out);

  // Types and functions that optimistic_writes and coarse ask for.
  using node = btree_detail::node<Latch>;
  using leaf = btree_detail::leaf<Latch, Storage>;
  /// The place where a search for a key ended.
  struct position {
    leaf* at = nullptr;
    std::uint64_t version = 0;
    unsigned level = 0;
    place where;
    entry* found = nullptr;
  };
  entry* find(access& inside, std::string_view key);
  position locate(access& inside, std::string_view key);
  static entry* found(access&, const position& at, std::string_view) noexcept { return at.found; }
  static bool try_lock(access&, const position& at, std::string_view) noexcept {
    return at.at->latch.upgrade(at.version);
  }
  static void unlock(const position& at) noexcept { at.at->latch.unlock_unchanged(); }
  unlinked<Storage, entry> make(const position& at, std::string_view key, const content& value) {
    return make_entry<entry>(storage_, {.level = at.level + 1, .parent = at.at}, key, value);
  }
  bool attach(access& inside, const position& at, std::string_view key, entry* created);
  void detach(access&, const position& at, std::string_view key);
  node* cut() noexcept;
  std::int64_t retire_cut(node* root) noexcept;
  bool is_valid(std::size_t keys);

  // placement::placed_tree, in relocation.cpp.
  bool visit_leaves(const scope& inside, std::string& cursor, const placement::leaf_visitor& visit);
  placement::relocated relocate(const scope& inside, std::span<void* const> nodes,
                                placement::tier to);

 private:
  using inner = btree_detail::inner<Latch>;

  /// A node on the way down, its parent, and the versions with which the parent led to the node.
  struct path {
    inner* parent = nullptr;
    std::uint64_t parent_version = 0;
    unsigned index = 0;  ///< of `at` among the parent's children
    unsigned level = 0;  ///< of `at`: how many nodes are above it
    node* at = nullptr;
    std::uint64_t version = 0;
    const separator *low = nullptr, *high = nullptr;  ///< fences of `at`; null: none
    const separator *parent_low = nullptr, *parent_high = nullptr;
  };
  struct subtree {
    node* at;
    const separator *low, *high;
    unsigned depth;
  };

  /// Cache lines of a node that a search reads, about: its head, some starts, and a link.
  static constexpr unsigned kSearchedLines = 6;
  static constexpr unsigned kUnderfull = 4;  // a node less than a quarter full is to be merged

  static leaf* leaf_of(node* n) noexcept { return static_cast<leaf*>(n); }
  static inner* inner_of(node* n) noexcept { return static_cast<inner*>(n); }
  static unsigned count_of(const node* n) noexcept { return n->count.load_acquire(); }
  static unsigned capacity_of(const node* n) noexcept {
    return n->is_leaf ? leaf::kCapacity : inner::kCapacity;
  }
  static void free_memory(void* n) noexcept { Storage::deallocate_node(n); }
  static void retire_memory(const void* n) { sync::retire(const_cast<void*>(n), &free_memory); }
  const separator* make_separator(std::string_view text);

  // Searching.
  bool enter(path& p) noexcept;
  template <bool kWithFences>
  static bool step_down(path& p, unsigned index) noexcept;
  template <bool kForValue = false>
  static place place_in(access& inside, leaf* n, std::string_view key, reading how = reading::use);
  static place place_in(inner* n, std::string_view key);
  static unsigned child_for(inner* n, std::string_view key);
  template <bool kForValue>
  bool try_locate(access& inside, std::string_view key, position& p);
  bool try_collect_up(access& inside, const scan_start& from, reading how, piece& out);
  bool try_collect_down(access& inside, const std::optional<scan_start>& from, piece& out);

  // Splitting and merging.
  void make_room(access& inside, std::string_view key);
  bool lock_both(const path& p) noexcept;
  void split_leaf(access& inside, const path& p, std::string_view key);
  void split_inner(const path& p);
  /// The level of both halves of a node that splits: the root gets a new node above its halves.
  unsigned level_of_halves(const path& p) const noexcept {
    return p.level + (p.parent == &anchor_ ? 1 : 0);
  }
  void replace_by_two(const path& p, node* left, const separator* between, node* right);
  void tidy(access& inside, std::string_view key);
  bool tidy_one(access& inside, std::string_view key);
  bool shorten(const path& p);
  bool merge(access& inside, const path& p);
  node* joined(access& inside, const path& p, const separator* low, const separator* high,
               node* left, const separator* between, node* right);
  static void append(access& inside, leaf* to, leaf* from, unsigned begin, unsigned end);
  static void append(inner* to, inner* from, unsigned begin, unsigned end);
  // Placing.
  bool try_path(std::string_view key, std::vector<void*>& nodes, path& p);
  static bool covers_fast(node* n) noexcept;
  static leaf* copy_of(leaf* n, placement::tier to);
  static inner* copy_of(inner* n, placement::tier to);
  void link_copied_halves(const path& p, leaf* left, const separator* between, leaf* right);
  static void copy_fast_entries(leaf* made);
  static void finish_relocation(leaf* old, unsigned begin, leaf* made);
  static void take_apart(node* n, std::vector<node*>& children, std::vector<entry*>& entries,
                         std::vector<const separator*>& separators);
  bool is_valid_node(access& inside, const subtree& here, std::size_t& keys,
                     std::vector<subtree>& below);

  [[no_unique_address]] const Storage storage_;
  inner anchor_{0};  // no separators; its one child is the root
};

/// Goes from an inner node to its child `index`. False: start again.
template <class Storage, class Latch>
template <bool kWithFences>
bool tree<Storage, Latch>::step_down(path& p, unsigned index) noexcept {
  inner* const from = inner_of(p.at);
  const std::uint64_t from_version = p.version;
  if constexpr (kWithFences) {
    p.parent_low = p.low;
    p.parent_high = p.high;
    if (index > 0) p.low = from->separators[index - 1].load_acquire();
    if (index < count_of(from)) p.high = from->separators[index].load_acquire();
  }
  node* const child = from->children[index].load_acquire();
  Storage::touch(child, kSearchedLines);
  prefetch_starts(child);
  p.parent = from;
  p.parent_version = from_version;
  p.index = index;
  ++p.level;
  p.at = child;
  p.version = child->latch.read();
  // Coupling: this node, unchanged, still led to the child when the child's version was read.
  return !Latch::is_obsolete(p.version) && from->latch.is_still(from_version);
}

/// Whether a node or an entry right below is in fast memory.
template <class Storage, class Latch>
bool tree<Storage, Latch>::covers_fast(node* n) noexcept {
  const unsigned count = count_of(n);
  for (unsigned i = 0; i <= count; ++i) {
    const void* below = nullptr;
    if (!n->is_leaf) below = inner_of(n)->children[i].load_acquire();
    if (n->is_leaf && i < count) below = leaf_of(n)->entries[i].load_acquire();
    if (placement::is_fast(below)) return true;
  }
  return false;
}

}  // namespace isotherm::index::btree_detail
