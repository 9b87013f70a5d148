// Goes through the leaves of all layers in the order of their keys, upwards or downwards, beside
// writers.
//
// The cursor stands on a path: in each layer a border node, the version and the order under which
// its entries are believed, and a place. Entries are read one by one and believed while the version
// has not changed; an insert or a removal alone does not change it and is seen or not. When it has
// changed, the caller seeks anew from the last key that it used.
//
// Nothing is missed on the way to a neighbour, and nothing seen twice. Upwards, `next` was read
// under the same version as the entries; a neighbour that was deleted says so. Downwards, entries
// may have moved from the neighbour into a new node between the two: it must still name this node
// as its next. Both are looked at after the neighbour's order was read: a node is marked, and
// leaves the chain, before its range goes to a neighbour.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "index/masstree/layer.hpp"

namespace isotherm::index::masstree_detail {

enum class direction : std::uint8_t { up, down };

/// For one thread, inside one scope.
class cursor {
 public:
  /// On a tree whose top `top` names.
  cursor(base::atomic<link>& top, direction where_to) noexcept
      : top_(top), is_up_(where_to == direction::up) {
    path_.reserve(8);
  }

  /// Stands before the first leaf whose key is not before `from`, or one leaf too early (when that
  /// leaf and `from` have their slices in common). None: before the first leaf.
  void seek(std::optional<std::string_view> from);

  /// The next leaf's link; 0 at the end; nullopt: something has changed, seek again.
  std::optional<link> next();

 private:
  struct frame {
    border* at;
    version seen;
    permutation order;
    unsigned place;  ///< upwards: entries used or passed; downwards: entries still to come

    bool is_believed() const noexcept { return !seen.differs(at->state.now()); }
    /// Asks for what the entries still to come link to: the misses overlap.
    void prefetch_targets(bool is_up) const noexcept {
      const unsigned end = is_up ? order.count() : place;
      for (unsigned i = is_up ? place : 0; i < end; ++i) {
        prefetch(reinterpret_cast<const void*>(at->link_at(order[i]).load_relaxed() & ~link{1}));
      }
    }
  };

  bool try_seek(std::string_view from);
  bool enter(base::atomic<link>& where, link top);
  bool go_to_neighbour();

  base::atomic<link>& top_;
  const bool is_up_;
  std::vector<frame> path_;
};

}  // namespace isotherm::index::masstree_detail
