// Placements that are computed from the counts of a tree whose nodes are all slow: the one that
// knows all, a bound for those that do not, and the one that is the wrong way round.
#pragma once

#include <cstdint>

#include "lab/simulation/visits.hpp"
#include "placement/placed_tree.hpp"

namespace isotherm::lab {

/// Chooses, of the nodes of a tree that are all slow, those which `room` bytes of fast memory
/// should have held: the ones with the most visits, and behind each cache the most misses, a byte.
/// Moves their counts in `sum` from slow to fast. Nodes that are in the tree no more stay slow.
void place_best(placement::placed_tree& tree, const visit_counter& counts, std::uint64_t room,
                visit_tally& sum);

/// Chooses, in the same way, the lowest level first, and of the level that fits in part an even
/// share of each node (SINLK, 3.1.1: Slow-Fast).
void place_slow_fast(placement::placed_tree& tree, const visit_counter& counts, std::uint64_t room,
                     visit_tally& sum);

/// Means over the 1% of the pages of nodes that have the most visits: the share of a page's
/// visits that its most visited node takes, the upper quartile of its nodes' visits, and its nodes
/// (SINLK, figure 5). A node counts for the page where it begins.
struct hot_pages {
  double share_of_top_node = 0, upper_quartile = 0, nodes = 0;
};
hot_pages find_hot_pages(placement::placed_tree& tree, const visit_counter& counts);

}  // namespace isotherm::lab
