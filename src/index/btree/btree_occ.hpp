// btree-occ: a B+tree with optimistic concurrency control (tree.hpp): a version and a lock in each
// node, searches that lock nothing, writers that lock their leaf and, to split or merge, its parent
// too.
#pragma once

#include "index/btree/gated_tree.hpp"

namespace isotherm::index {

/// See gated_tree. Readers write nothing; they wait while a node on their way is locked, also for
/// the replacement of a value there, and begin again where one has changed. Writers wait likewise;
/// with a lock in hand only for a neighbour to merge with.
template <class Holding>
class btree_occ : public btree_detail::gated_tree<Holding, version_lock, btree_detail::open_gate> {
 public:
  static constexpr std::string_view kName = "btree-occ";
  using btree_detail::gated_tree<Holding, version_lock, btree_detail::open_gate>::gated_tree;
};

}  // namespace isotherm::index
