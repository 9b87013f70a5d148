// The record of a visit of all leaves, from which SINLK's thresholds and levels follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "placement/access_histogram.hpp"
#include "placement/hyper_watermark.hpp"
#include "placement/node_memory.hpp"
#include "placement/placed_tree.hpp"

namespace isotherm::placement {

/// Adds up how often leaves are used, and what nodes take, in the order of the visit. Owned by one
/// thread.
class visit_record {
 public:
  void add(const visited_leaf& leaf, std::uint16_t uses) {
    uses_.add(uses);
    uses_.add_bytes(uses, tier_of(leaf.path.back()), leaf.bytes);
    enter(leaf.path.first(leaf.path.size() - 1));
    if (!open_.empty()) open_.back().most_uses = std::max(open_.back().most_uses, uses);
  }
  /// The last leaf was visited.
  void finish() { leave(0); }
  const access_histogram& uses() const noexcept { return uses_; }
  /// Levels of which all inner nodes fit into `room`, and the lowest level.
  level_bounds bounds(std::uint64_t room) const {
    level_bounds found{.least = 0, .most = static_cast<unsigned>(level_bytes_.size())};
    std::uint64_t sum = 0;
    for (; found.least < found.most; ++found.least) {
      sum += level_bytes_[found.least];
      if (sum > room) break;
    }
    return found;
  }

 private:
  static tier tier_of(const void* node) noexcept { return is_slow(node) ? tier::slow : tier::fast; }
  /// An inner node of which leaves may follow.
  struct open_node {
    void* node;
    tier where;
    std::size_t bytes;
    std::uint16_t most_uses = 0;  // of a leaf below it
  };
  /// Leaves the nodes that are not on `path`, and enters those that are.
  void enter(std::span<void* const> path) {
    std::size_t shared = 0;
    while (shared < std::min(path.size(), open_.size()) && open_[shared].node == path[shared]) {
      ++shared;
    }
    leave(shared);
    if (level_bytes_.size() < path.size()) level_bytes_.resize(path.size());
    for (std::size_t level = shared; level < path.size(); ++level) {
      // The root may be in neither tier.
      const bool is_placed = is_fast(path[level]) || is_slow(path[level]);
      open_.push_back({.node = path[level],
                       .where = tier_of(path[level]),
                       .bytes = is_placed ? bytes_of(path[level]) : 0});
      level_bytes_[level] += open_.back().bytes;
    }
  }
  void leave(std::size_t kept) {
    while (open_.size() > kept) {
      const open_node left = open_.back();
      open_.pop_back();
      uses_.add_bytes(left.most_uses, left.where, left.bytes);
      if (!open_.empty()) open_.back().most_uses = std::max(open_.back().most_uses, left.most_uses);
    }
  }

  access_histogram uses_;
  std::vector<open_node> open_;
  std::vector<std::uint64_t> level_bytes_;
};

}  // namespace isotherm::placement
