// Goes through the leaves of all layers in the order of their keys, upwards or downwards, while
// writers run.
//
// The position of a cursor is a path: in each layer a border node, the version and the order with
// which its entries are read, and a place. Entries are read one by one and used if the version has
// not changed. An insert or a removal alone does not change it, and may be seen or not. When the
// version has changed, the caller seeks again from the last key that it used.
//
// On the way to a neighbour nothing is missed, and nothing seen twice. Upwards, `next` was read
// under the same version as the entries, and a deleted neighbour is marked as such. Downwards,
// entries may have moved from the neighbour into a new node between the two, so that the neighbour
// must still have this node as its next. Both are checked after the neighbour's order was read: a
// node is marked, and leaves the chain, before a neighbour takes over its range.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/masstree/layer.hpp"

namespace isotherm::index::masstree_detail {

enum class direction : std::uint8_t { up, down };

/// Appends what an entry says of a key: its bytes in this layer, and a zero byte in the place of
/// those that may follow behind them.
void append_entry(std::string& path, const wanted& entry);

/// For one thread, inside one scope.
class cursor {
 public:
  /// Whether the search for the first leaf ends at a border node, or goes on in a layer below it.
  enum class arrival : std::uint8_t { here, further_down };
  /// Called for each border node that a cursor comes to.
  using on_border = void (*)(border* at, arrival where) noexcept;

  /// A cursor in the tree to whose top `top` links.
  cursor(base::atomic<link>& top, direction where_to, on_border seen = nullptr) noexcept
      : top_(top), where_to_(where_to), on_border_(seen) {
    path_.reserve(8);
  }

  /// Goes to the place before the first leaf, in the cursor's direction, that does not come before
  /// `from`, or one leaf earlier (if that leaf has its slices in common with `from`). Without
  /// `from`: before the first leaf.
  void seek(std::optional<std::string_view> from);

  /// The next leaf's link; 0 at the end; nullopt: something has changed, seek again.
  std::optional<link> next();

  /// Returns the bytes of the key of the leaf that next() has just returned as far as the tree
  /// itself knows them (append_entry()). A search for them ends at the leaf, and the paths of
  /// leaves are in the order of their keys. For a cursor upwards. None: something has changed, seek
  /// again.
  std::optional<std::string> path() const;

 private:
  struct frame {
    border* at;
    version seen;
    permutation order;
    unsigned place;  ///< upwards: entries used or passed; downwards: entries still to come

    bool is_believed() const noexcept { return !seen.differs(at->state.now()); }
    /// Prefetches what the entries still to come link to: the cache misses overlap.
    void prefetch_targets(direction where_to) const noexcept {
      const bool is_up = where_to == direction::up;
      const unsigned end = is_up ? order.count() : place;
      for (unsigned i = is_up ? place : 0; i < end; ++i) {
        prefetch(reinterpret_cast<const void*>(at->link_at(order[i]).load_relaxed() & ~link{1}));
      }
    }
  };

  bool is_up() const noexcept { return where_to_ == direction::up; }
  bool try_seek(std::string_view from);
  bool enter(base::atomic<link>& where, link top);
  bool go_to_neighbour();
  void tell_of(border* at, arrival where = arrival::here) const noexcept {
    if (on_border_) on_border_(at, where);
  }

  base::atomic<link>& top_;
  const direction where_to_;
  const on_border on_border_;
  std::vector<frame> path_;
};

}  // namespace isotherm::index::masstree_detail
