// btree-occ: a B+tree (tree.hpp) with the optimistic lock coupling of Leis, Haubenschild, Neumann
// ("Optimistic lock coupling: a scalable and efficient general-purpose synchronization method",
// IEEE Data Eng. Bull. 42(1), 2019). Each node has a version and a lock. Searches lock nothing, and
// check the version of a node again when they have read that of the node below; writers lock their
// leaf and, to split or merge, its parent too. The optimistic validation of Bronson et al. (PPoPP
// 2010), in a binary tree, came before it.
#pragma once

#include "index/btree/scans.hpp"
#include "index/btree/tree.hpp"
#include "index/optimistic_writes.hpp"

namespace isotherm::index {

/// Ordered by bytes. All operations but the scans and walk linearizable. Readers write nothing;
/// they wait while a node on their path is locked, even if only a value there is being replaced,
/// and start again if a node has changed. Writers do the same; while they hold a lock, they wait
/// only for a neighbour to merge with.
template <class Storage>
class btree_occ
    : public optimistic_writes<btree_occ<Storage>, Storage>,
      public btree_detail::scans<btree_occ<Storage>, btree_detail::tree<Storage, version_lock>>,
      private btree_detail::tree<Storage, version_lock> {
  using tree = btree_detail::tree<Storage, version_lock>;
  friend optimistic_writes<btree_occ, Storage>;
  friend btree_detail::scans<btree_occ, tree>;

 public:
  static constexpr std::string_view kName = "btree-occ";

  explicit btree_occ(std::size_t /*expected_keys: a tree needs no size*/,
                     const Storage& storage = {})
      : optimistic_writes<btree_occ, Storage>(storage), tree(storage) {}

  std::optional<std::string_view> find(access& inside, std::string_view key);
  /// Ends the process when memory is exhausted: an exception would leave nodes locked.
  void clear() noexcept;
  bool is_valid() { return tree::is_valid(this->size()); }

  using tree::relocate;
  using tree::visit_leaves;
};

template <class Storage>
std::optional<std::string_view> btree_occ<Storage>::find(access& inside, std::string_view key) {
  const auto* found = tree::find(inside, key);
  if (!found) return std::nullopt;
  // An entry that is erased meanwhile keeps its last value.
  return read(found->value, inside);
}

template <class Storage>
void btree_occ<Storage>::clear() noexcept {
  access inside;
  this->count_.add(-this->retire_cut(this->cut()));
}

}  // namespace isotherm::index
