// art: the adaptive radix tree (Leis, Kemper, Neumann, ICDE 2013) with optimistic lock coupling
// (Leis, Scheibner, Kemper, Neumann, DaMoN 2016). Nodes are described in node.hpp.
//
// A search goes down without locks, and starts again where a version shows that it has read a node
// in the middle of a change. A writer goes down in the same way, and then locks the one or two
// nodes that it changes by upgrading the versions that it saw. A leaf hangs from the highest node
// below which its key is the only one (lazy expansion). An erase removes the leaf under one lock
// and then tidies the path: nodes left with one entry are merged with others, nodes left too large
// are replaced by smaller ones.
//
// Scans rely on two facts: the common path of the keys under a node never changes while the node
// lives (splits and merges move bytes between the node and those above it), and a node that was
// replaced is marked obsolete. Therefore a scan that keeps a stack of nodes and asks each for its
// next child misses nothing, and seeks again when it meets an obsolete node.
#pragma once

#include <string>

#include "index/art/node.hpp"
#include "index/common.hpp"
#include "index/index.hpp"
#include "index/optimistic_writes.hpp"
#include "index/storage.hpp"
#include "index/walk_cursors.hpp"
#include "placement/placed_tree.hpp"

namespace isotherm::index {

/// The leaf of a key.
template <class Storage>
struct art_leaf : tree_entry<Storage> {
  using tree_entry<Storage>::tree_entry;
  [[no_unique_address]] typename Storage::use_count uses;
};

/// Ordered by bytes. All operations but the scans and walk linearizable. Scans, upwards and
/// downwards, visit keys strictly in order, each at most once; every key that is present throughout
/// is visited, and every pair visited was present at some moment of the scan.
///
/// Readers write nothing; they wait while a node on their path is locked, even if only a value
/// below it is being replaced, and start again if a node has changed. Writers do the same; while
/// they hold a lock, they wait only for the lock of a node below.
template <class Storage>
class art : public optimistic_writes<art<Storage>, Storage, art_leaf<Storage>>,
            public upward_scans<art<Storage>> {
  using writes = optimistic_writes<art<Storage>, Storage, art_leaf<Storage>>;
  friend writes;
  friend upward_scans<art>;

 public:
  static constexpr std::string_view kName = "art";

  explicit art(std::size_t /*expected_keys: a tree needs no size*/, const Storage& storage = {})
      : writes(storage) {}
  ~art();
  art(const art&) = delete;
  art& operator=(const art&) = delete;

  std::optional<std::string_view> find(access& inside, std::string_view key);

  void scan_back(access& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::optional<scan_start> start;
    if (from) start = scan_start{*from};
    iterate<down>(inside, start, reading::use, scanning(inside, visit));
  }
  /// Ends the process when memory is exhausted: an exception would leave nodes locked.
  void clear() noexcept;
  bool is_valid();

  // placement::placed_tree, in relocation.cpp. The root is in neither tier.
  bool visit_leaves(const scope& inside, std::string& cursor, const placement::leaf_visitor& visit);
  placement::relocated relocate(const scope& inside, std::span<void* const> nodes,
                                placement::tier to);

 private:
  using typename writes::entry;
  using typename writes::unlinked_entry;
  using writes::count_;
  using writes::storage_;
  using node = art_detail::node;
  using node_kind = art_detail::node_kind;
  using link = art_detail::link;

  enum class ending : std::uint8_t {
    mismatch,  ///< the key leaves the node's prefix after `matched` bytes
    vacant,    ///< the node has no link where the key goes on or ends
    occupied   ///< there is a leaf, whose key may be another one
  };
  /// The place at which a search ended, and the versions for which it holds.
  struct position {
    node* parent = nullptr;  ///< null when `at` is the root
    std::uint64_t parent_version = 0;
    node* at = nullptr;
    std::uint64_t version = 0;
    std::size_t depth = 0;  ///< key bytes consumed above `at`, its prefix not included
    unsigned prefix_length = 0, matched = 0;
    link target = 0;     ///< the leaf, when occupied
    unsigned level = 0;  ///< how many nodes are above `at`
    ending how = ending::vacant;

    std::size_t after_prefix() const noexcept { return depth + prefix_length; }
  };
  /// Cache lines of an inner node that a search reads, about: its head, and a link.
  static constexpr unsigned kSearchedLines = 2;
  static constexpr int kTerminal = -1, kAllBytes = 256;
  struct frame {
    node* at;
    int next;  ///< see up, down
  };
  /// How a key goes on in a node.
  enum class course : std::uint8_t {
    less,     ///< all keys here are less
    greater,  ///< all keys here are greater
    ends,     ///< it ends here
    stops,    ///< there is no node for its next byte, at most a leaf
    descends  ///< there is one
  };
  struct up {  ///< next: least byte not yet visited; kTerminal: the terminal comes first
    static constexpr int kStart = kTerminal;
    static link step(const frame& top, int& next) noexcept;
    static bool is_left_out(const scan_start& from, std::string_view key) noexcept {
      return from.kind == bound::exclusive ? key <= from.key : key < from.key;
    }
  };
  struct down {  ///< next: least byte visited, 256 at first, then the terminal; kTerminal: done
    static constexpr int kStart = kAllBytes;
    static link step(const frame& top, int& next) noexcept;
    static bool is_left_out(const scan_start& from, std::string_view key) noexcept {
      return from.kind == bound::exclusive ? key >= from.key : key > from.key;
    }
  };

  static entry* leaf_of(link l) noexcept { return reinterpret_cast<entry*>(l & ~link{1}); }
  static link link_to(entry* e) noexcept { return reinterpret_cast<link>(e) | 1; }
  node* new_inner(node_kind kind, const node_place& place) {
    return art_detail::construct(storage_.allocate_node(art_detail::size_of(kind), place), kind);
  }
  static void free_inner(void* n) noexcept { Storage::deallocate_node(n); }
  static void retire_inner(node* n) { sync::retire(n, &free_inner); }

  position locate(access& inside, std::string_view key) const noexcept;
  bool try_locate(std::string_view key, position& at) const noexcept;
  static entry* found(access& inside, const position& at, std::string_view key) {
    if (at.how != ending::occupied) return nullptr;
    entry* const leaf = leaf_of(at.target);
    return read(leaf->key, inside) == key ? leaf : nullptr;
  }
  static bool try_lock(access&, const position& at, std::string_view) noexcept {
    return at.at->version.upgrade(at.version);
  }
  static void unlock(const position& at) noexcept { at.at->version.unlock_unchanged(); }
  unlinked_entry make(const position& at, std::string_view key, const content& value) {
    return make_entry<entry>(storage_, {.level = at.level + 1, .parent = at.at}, key, value);
  }

  bool attach(access& inside, const position& at, std::string_view key, entry* leaf);
  bool split_prefix(const position& at, std::string_view key, link created);
  bool grow(const position& at, std::string_view key);
  bool expand_leaf(access& inside, const position& at, std::string_view key, link created);
  static void put(node* n, std::string_view key, std::size_t depth, link target) noexcept;

  void detach(access&, const position& at, std::string_view key);
  void tidy(std::string_view key);
  bool tidy_one(std::string_view key);
  bool collapse(const position& at, std::uint8_t parent_byte);
  bool replace_inner(const position& at, std::uint8_t parent_byte, node_kind kind);

  template <class Way, class Visit>
  void iterate(access& inside, std::optional<scan_start> from, reading how, const Visit& visit);
  template <class Visit>
  void go_up(access& inside, const scan_start& from, reading how, const Visit& visit) {
    iterate<up>(inside, from, how, visit);
  }
  void seek(up, const std::optional<scan_start>& from, std::vector<frame>& path) const;
  void seek(down, const std::optional<scan_start>& from, std::vector<frame>& path) const;
  template <class Turn>
  bool try_seek(std::string_view from, Turn turn, std::vector<frame>& path) const;

  placement::relocated relocate_leaf(node* above, base::atomic<link>& where, placement::tier to);
  static bool covers_fast(node* n) noexcept;

  struct place {
    node* at;
    std::string path;
  };
  bool is_valid_node(access& inside, const place& here, std::size_t& leaves,
                     std::vector<place>& below);

  // Without prefix, never replaced; a part of the index itself, and so in neither tier.
  alignas(base::kCacheLineBytes) art_detail::node256 root_node_;
  node* const root_ = &root_node_;
};

/// Whether a node or a leaf right below is in fast memory.
template <class Storage>
bool art<Storage>::covers_fast(node* n) noexcept {
  const auto is_fast = [](link l) {
    return placement::is_fast(reinterpret_cast<const void*>(l & ~link{1}));
  };
  if (is_fast(n->terminal.load_acquire())) return true;
  for (auto b = art_detail::next_child(n, 0); b.target; b = art_detail::next_child(n, b.byte + 1)) {
    if (is_fast(b.target)) return true;
  }
  return false;
}

}  // namespace isotherm::index
