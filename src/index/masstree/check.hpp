// The invariants of one layer of Masstree. No concurrent writers.
#pragma once

#include <vector>

#include "index/masstree/node.hpp"

namespace isotherm::index::masstree_detail {

/// True when the layer below `top` is well-formed: versions at rest, slices in order and in the
/// range that the levels above give them, parents, neighbours, ranks, permutations, and no empty
/// border node but the leftmost. Appends the border nodes in order.
bool is_valid_layer(node* top, std::vector<border*>& borders);

}  // namespace isotherm::index::masstree_detail
