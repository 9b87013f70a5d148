// btree-coarse: the B+tree of tree.hpp without versions, under one reader-writer lock: the baseline
// of btree-occ.
#pragma once

#include "index/btree/gated_tree.hpp"

namespace isotherm::index {

/// See gated_tree. A writer waits for all others, a reader for a writer, also for one that is
/// waiting itself.
template <class Holding>
class btree_coarse : public btree_detail::gated_tree<Holding, no_version_lock, coarse_gate> {
 public:
  static constexpr std::string_view kName = "btree-coarse";
  using btree_detail::gated_tree<Holding, no_version_lock, coarse_gate>::gated_tree;
};

}  // namespace isotherm::index
