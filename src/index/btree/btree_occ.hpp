// btree-occ: a B+tree (tree.hpp) with the optimistic lock coupling of Leis, Haubenschild, Neumann
// ("Optimistic lock coupling: a scalable and efficient general-purpose synchronization method",
// IEEE Data Eng. Bull. 42(1), 2019): a version and a lock in each node; searches lock nothing and
// check the version of a node once more when they have read that of the one below; writers lock
// their leaf and, to split or merge, its parent too. The optimistic validation of Bronson et al.
// (PPoPP 2010) is its ancestor, in a binary tree.
#pragma once

#include "index/btree/gated_tree.hpp"

namespace isotherm::index {

/// See gated_tree. Readers write nothing; they wait while a node on their way is locked, also for
/// the replacement of a value there, and begin again where one has changed. Writers wait likewise;
/// with a lock in hand only for a neighbour to merge with.
template <class Holding>
class btree_occ : public btree_detail::gated_tree<Holding, version_lock, open_gate> {
 public:
  static constexpr std::string_view kName = "btree-occ";
  using btree_detail::gated_tree<Holding, version_lock, open_gate>::gated_tree;
};

}  // namespace isotherm::index
