// The interface of a tree whose nodes can be placed (SINLK, 5).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "placement/tier.hpp"
#include "sync/scope.hpp"

namespace isotherm::placement {

/// The outcome of a relocation.
enum class relocation_result : std::uint8_t {
  done,
  changed,          ///< the parent no longer leads to the node, or the tree never moves it
  parent_is_slow,   ///< and so the node must be
  covers_fast_node  ///< a node below is fast, and so this one must be
};
struct relocated {
  relocation_result result = relocation_result::changed;
  void* node = nullptr;  ///< its new address, when done
};

struct visited_leaf {
  std::span<void* const> path;  ///< of nodes, from the root to the leaf
  use_count& uses;
  std::size_t bytes;  ///< of the leaf, if it is no inner node too, and what moves with it
};
/// False ends the visit.
using leaf_visitor = std::function<bool(const visited_leaf& leaf)>;

/// The nodes are the tree's own, named by their addresses, which are good inside of the scope in
/// which the tree gave them: a node that has left the tree since is recognised.
class placed_tree {
 public:
  virtual ~placed_tree() = default;

  /// Visits leaves, in order, from where `cursor` (empty: the first one) says, until the visitor
  /// ends the visit. False: there are no further ones. Leaves that are there throughout are visited
  /// at least once. The visitor must not change the tree.
  virtual bool visit_leaves(const sync::scope& inside, std::string& cursor,
                            const leaf_visitor& visit) = 0;

  /// Replaces the last node of `path`, which begins at the root, by a copy of itself in the other
  /// tier, with itself and all that leads to it locked meanwhile. Keeps the single-boundary rule.
  virtual relocated relocate(const sync::scope& inside, std::span<void* const> path, tier to) = 0;
};

}  // namespace isotherm::placement
