#include "placement/migration.hpp"

#include <algorithm>
#include <utility>

#include "placement/node_memory.hpp"

namespace isotherm::placement {

/// The places of a path, of which those that it shares with the path before are known.
migration::place& migration::enter(std::span<void* const> path) {
  std::size_t shared = 0;
  while (shared < std::min(path.size(), path_.size()) && path_[shared]->node == path[shared]) {
    ++shared;
  }
  path_.resize(shared);
  for (std::size_t level = shared; level < path.size(); ++level) {
    place* const parent = level > 0 ? path_[level - 1] : nullptr;
    const bool is_leaf = level + 1 == path.size();
    places_.push_back({path[level], parent, static_cast<unsigned>(level), is_leaf});
    path_.push_back(&places_.back());
  }
  return *path_.back();
}

void migration::queue_promotion(std::span<void* const> path, std::size_t levels) {
  place* lowest = &enter(path);
  for (std::size_t below = path.size(); below > levels; --below) lowest = lowest->parent;
  promotions_.push_back(lowest);
  for (place* at = promotions_.back(); at != nullptr && is_slow(at->node) && at->waiting == 0;
       at = at->parent) {
    promotion_bytes_ += at->waiting = bytes_of(at->node);
  }
}

void migration::queue_demotion(std::span<void* const> path) {
  place* at = &enter(path);
  while (at != nullptr && is_slow(at->node)) at = at->parent;
  if (at != nullptr && is_fast(at->node)) queue(*at);
}

void migration::queue(place& at) {
  if (at.is_queued) return;
  at.is_queued = true;
  if (demotions_.size() <= at.level) demotions_.resize(at.level + 1);
  demotions_[at.level].push_back(&at);
}

bool migration::move(const sync::scope& inside, place& at, tier to) {
  nodes_.clear();
  for (const place* each = &at; each != nullptr; each = each->parent) nodes_.push_back(each->node);
  std::ranges::reverse(nodes_);
  const relocated moved = tree_.relocate(inside, nodes_, to);
  if (moved.result == relocation_result::changed) ++counts_.refused;
  if (moved.result != relocation_result::done) return false;
  at.node = moved.node;
  const bool is_up = to == tier::fast;
  ++(is_up ? counts_.promoted_nodes : counts_.demoted_nodes);
  (is_up ? counts_.promoted_bytes : counts_.demoted_bytes) += bytes_of(at.node);
  return true;
}

void migration::promote(const sync::scope& inside, const std::function<bool()>& may_go_on) {
  std::vector<place*> slow;  // lowest first
  for (place* leaf : promotions_) {
    slow.clear();
    for (place* at = leaf; at != nullptr && is_slow(at->node); at = at->parent) slow.push_back(at);
    for (; !slow.empty(); slow.pop_back()) {
      if (!may_go_on()) return;
      place& at = *slow.back();
      promotion_bytes_ -= std::exchange(at.waiting, 0);
      if (!move(inside, at, tier::fast)) break;
    }
  }
}

void migration::demote(const sync::scope& inside, unsigned demote_level,
                       const std::function<bool()>& may_go_on) {
  for (std::size_t level = demotions_.size(); level-- > 0;) {
    // Queueing a parent may make the outer list grow, not this one.
    for (std::size_t i = 0; i < demotions_[level].size(); ++i) {
      place& at = *demotions_[level][i];
      if (!at.is_leaf && at.level < demote_level) continue;
      if (!may_go_on()) return;
      if (move(inside, at, tier::slow) && at.parent && is_fast(at.parent->node)) queue(*at.parent);
    }
  }
}

}  // namespace isotherm::placement
