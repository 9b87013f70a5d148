// The masstree's part of placement (placement/placed_tree.hpp). A leaf, in the sense of SINLK, is a
// border node with the leaves below it, which move with it; nodes of all layers lie on one path.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/masstree/masstree.hpp"

namespace isotherm::index {

namespace masstree_detail {

/// Goes through the border nodes of all layers in the order of their keys. A node that leads to
/// layers comes after all nodes of these, so that none comes after one that lies above it. Nodes
/// that are there, and not empty, throughout are met at least once. For one thread, inside one
/// scope.
class border_walk {
 public:
  /// `from` is empty, or a position() of an earlier walk, or a key: then the walk begins with the
  /// border node where keys behind it are.
  border_walk(base::atomic<link>& top, std::string_view from) : top_(top), position_(from) {
    seek();
  }

  /// Returns the next border node, null at the end.
  border* next();
  /// The nodes from the top of the first layer to the one that next() has returned.
  std::span<void* const> path() const noexcept { return nodes_; }
  /// Returns the beginning of a walk that goes on behind that node: the slices that lead to the
  /// node, and the last one in it.
  const std::string& position() const noexcept { return position_; }

 private:
  struct frame {
    border* at;
    version seen;
    permutation order;
    unsigned place = 0;     ///< entries whose layers were visited
    bool is_met = false;    ///< next() has returned it
    std::size_t above = 0;  ///< nodes in the layers above

    bool is_believed() const noexcept { return !seen.differs(at->state.now()); }
  };

  void seek();
  bool try_seek();
  bool enter(base::atomic<link>& where, link top);
  bool go_to_neighbour();
  bool go_to_layer(frame& here, bool& has_entered);
  bool note_position();
  void push(frame here);
  void append_path(border* to);
  void leave_layer();

  base::atomic<link>& top_;
  std::string position_;
  std::vector<frame> frames_;  // of each layer
  std::vector<void*> nodes_;
};

/// Replaces the last node of `nodes` by a copy in tier `to`, with its leaves. `first` links to the
/// top of the first layer.
placement::relocated relocate(base::atomic<link>& first, std::span<void* const> nodes,
                              placement::tier to, const leaf_moves& moves);

}  // namespace masstree_detail

template <class Storage>
bool masstree<Storage>::visit_leaves(const scope&, std::string& cursor,
                                     const placement::leaf_visitor& visit) {
  const std::size_t leaf_bytes = placement::bytes_taken_by(sizeof(entry));
  masstree_detail::border_walk walk(top_, cursor);
  while (border* const at = walk.next()) {
    touch(at);
    const masstree_detail::permutation order = at->order();
    unsigned leaves = 0;
    for (unsigned place = 0; place < order.count(); ++place) {
      leaves += masstree_detail::is_leaf(at->link_at(order[place]).load_acquire());
    }
    if (leaves == 0 && order.count() > 0) continue;  // an inner node alone
    // A node that leads to layers too counts as an inner one itself.
    const std::size_t own = leaves == order.count() ? placement::bytes_of(at) : 0;
    if (visit({walk.path(), at->uses, own + leaves * leaf_bytes})) continue;
    cursor = walk.position();
    return true;
  }
  return false;
}

template <class Storage>
placement::relocated masstree<Storage>::relocate(const scope&, std::span<void* const> nodes,
                                                 placement::tier to) {
  return masstree_detail::relocate(top_, nodes, to, kMoves);
}

}  // namespace isotherm::index
