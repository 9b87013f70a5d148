// masstree: Mao, Kohler, Morris, "Cache craftiness for fast multicore key-value storage" (EuroSys
// 2012): a trie whose nodes are B+trees. Each layer is a B+tree ordered by eight bytes of the key
// (layer.hpp, node.hpp). Longer keys that share these bytes have a layer of their own, which is
// made when the second such key is inserted.
//
// Reads take no lock: versions tell whether a node was in the middle of a change. Writers search in
// the same way, lock the border node, and check that what they found still holds. A layer, once
// made, stays until its last key is erased; then it is unlinked, and so are the nodes above that it
// leaves empty. Unlinked nodes go to sync::retire(), so that what a scope has reached stays
// readable.
//
// An entry's key object is read only where the eight bytes do not decide: for a key that goes on
// behind them, while no other key with these bytes does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "index/common.hpp"
#include "index/index.hpp"
#include "index/masstree/cursor.hpp"
#include "index/masstree/layer.hpp"
#include "index/optimistic_writes.hpp"
#include "index/storage.hpp"
#include "index/walk_cursors.hpp"
#include "placement/placed_tree.hpp"

namespace isotherm::index {

/// Ordered by bytes. All operations but the scans and walk linearizable. Scans, upwards and
/// downwards, visit keys strictly in order, each at most once; every key that is present throughout
/// is visited, and every pair visited was present at some moment of the scan.
///
/// Readers write nothing. They wait while a node on their path is split, replaced or removed, or
/// one of its slots is reused, and then look again, from the layer's top if entries may have left
/// the node. A lock alone, a replaced value, an erase or an insert into an unused slot does not
/// disturb them. Writers wait for the lock of their border node; while they hold a lock, they only
/// wait for nodes to the right of it, above it in its layer, or at the top of the layer below.
template <class Storage>
class masstree : public optimistic_writes<masstree<Storage>, Storage>,
                 public upward_scans<masstree<Storage>> {
  using writes = optimistic_writes<masstree<Storage>, Storage>;
  friend writes;
  friend upward_scans<masstree>;

 public:
  static constexpr std::string_view kName = "masstree";

  explicit masstree(std::size_t /*expected_keys: a tree needs no size*/,
                    const Storage& storage = {});
  ~masstree();
  masstree(const masstree&) = delete;
  masstree& operator=(const masstree&) = delete;

  std::optional<std::string_view> find(access& inside, std::string_view key);

  void scan_back(access& inside, std::optional<std::string_view> from, const visitor& visit) {
    std::optional<scan_start> start;
    if (from) start = scan_start{*from};
    iterate(inside, direction::down, start, reading::use, scanning(inside, visit));
  }
  void clear();
  bool is_valid();

  // placement::placed_tree, in relocation.hpp. A leaf is a border node with its leaves.
  bool visit_leaves(const scope& inside, std::string& cursor, const placement::leaf_visitor& visit);
  placement::relocated relocate(const scope& inside, std::span<void* const> nodes,
                                placement::tier to);

 private:
  using typename writes::entry;
  using typename writes::unlinked_entry;
  using writes::count_;
  using writes::storage_;
  using link = masstree_detail::link;
  using border = masstree_detail::border;
  using wanted = masstree_detail::wanted;
  using direction = masstree_detail::direction;

  /// The place at which a search ended, and the version and order for which it holds.
  struct position {
    border* upper = nullptr;  ///< the node of the layer above that leads here; null in the first
                              ///< layer
    border* at = nullptr;
    masstree_detail::version seen;
    masstree_detail::permutation order;
    std::size_t depth = 0;  ///< key bytes that the layers above have consumed
    wanted sought{0, 0};
    unsigned slot = masstree_detail::kNoSlot;
    unsigned level = 0;  ///< how many nodes, of all layers, are above `at`
    link target = 0;     ///< a leaf, whose key may be another one; 0: none
  };
  /// A border node on the path of a key, and the key's entry there.
  struct step {
    border* at;
    wanted sought;
  };

  /// Cache lines of a node that a search reads, about: its head, its slices, and a link.
  static constexpr unsigned kSearchedLines = 4;

  static void touch(const masstree_detail::node* n) noexcept { Storage::touch(n, kSearchedLines); }
  template <reading how>
  static void come_to(border* at, masstree_detail::cursor::arrival where) noexcept {
    touch(at);
    if (how == reading::use && where == masstree_detail::cursor::arrival::here) {
      Storage::use_count::add_to(at->uses);
    }
  }
  /// Returns the hook that counts and touches the nodes on a cursor's way; null where nodes are not
  /// placed.
  static masstree_detail::cursor::on_border on_border(reading how) noexcept {
    if constexpr (!Storage::kPlaced) return nullptr;
    return how == reading::use ? &come_to<reading::use> : &come_to<reading::peek>;
  }

  static link copy_leaf(link leaf, placement::tier to);
  static void settle_leaf(link from, link made);
  static constexpr masstree_detail::leaf_moves kMoves{&copy_leaf, &settle_leaf};
  masstree_detail::node_memory memory() const noexcept {
    if constexpr (!Storage::kPlaced) return masstree_detail::node_memory(storage_, nullptr);
    return masstree_detail::node_memory(storage_, &kMoves);
  }
  static entry* leaf_of(link l) noexcept { return reinterpret_cast<entry*>(l & ~link{1}); }
  static link link_to(entry* e) noexcept { return reinterpret_cast<link>(e) | 1; }

  bool try_locate(std::string_view key, position& at) noexcept;
  position locate(access& inside, std::string_view key) noexcept;
  static bool has_key(access& inside, const position& at, std::string_view key);
  static entry* found(access& inside, const position& at, std::string_view key) {
    return at.target != 0 && has_key(inside, at, key) ? leaf_of(at.target) : nullptr;
  }
  static bool try_lock(const position& at) noexcept;
  static bool try_lock(access&, const position& at, std::string_view) noexcept {
    return try_lock(at);
  }
  static void unlock(const position& at) noexcept { at.at->state.unlock(); }
  unlinked_entry make(const position& at, std::string_view key, const content& value) {
    return make_entry<entry>(storage_, masstree_detail::place_of_part(at.at, at.level + 1, at.at),
                             key, value);
  }

  bool attach(access& inside, const position& at, std::string_view key, entry* leaf);
  link make_layers(const position& at, std::string_view key, link created, std::string_view other);
  void detach(access&, const position& at, std::string_view key);
  void tidy(std::string_view key);
  bool try_path(std::string_view key, std::vector<step>& path) noexcept;
  bool try_tidy(std::vector<step>& path);
  std::string clear_border(access& inside, std::string_view path);
  std::optional<std::string> first_path(const scan_start& from);

  template <class Visit>
  void iterate(access& inside, direction where_to, std::optional<scan_start> from, reading how,
               const Visit& visit);
  template <class Visit>
  void go_up(access& inside, const scan_start& from, reading how, const Visit& visit) {
    iterate(inside, direction::up, from, how, visit);
  }

  base::atomic<link> top_;  // the top, or a node that was the top once; never a leaf
};

}  // namespace isotherm::index
