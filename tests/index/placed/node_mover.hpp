// Moves the nodes of placed trees at random, for tests that use the trees meanwhile.
#pragma once

#include <atomic>
#include <string>

#include "base/random.hpp"
#include "placement/migration.hpp"
#include "placement/node_memory.hpp"
#include "placement/placer.hpp"

namespace isotherm::index {

/// Chooses at random wherever the single-boundary rule leaves a choice.
class random_placer final : public placement::placer {
 public:
  explicit random_placer(std::uint64_t seed) : next_(seed) {}
  placement::tier choose(std::size_t, const placement::node_place& place) noexcept override {
    for (const void* below : place.covers) {
      if (placement::is_fast(below)) return placement::tier::fast;
    }
    if (placement::is_slow(place.parent)) return placement::tier::slow;
    return base::mix64(next_.fetch_add(1)) % 2 == 0 ? placement::tier::fast : placement::tier::slow;
  }

 private:
  std::atomic<std::uint64_t> next_;
};

/// Promotes and demotes leaves at random, some dozens at a step, again and again.
class node_mover {
 public:
  node_mover(placement::placed_tree& tree, std::uint64_t seed) : tree_(tree), random_(seed) {}
  void step() {
    const scope inside;
    placement::migration batch(tree_, counts_);
    int leaves = 0;
    const bool is_more =
        tree_.visit_leaves(inside, cursor_, [&](const placement::visited_leaf& leaf) {
          const std::uint64_t dice = random_.below(4);
          if (dice == 0) batch.queue_promotion(leaf.path);
          if (dice == 1) batch.queue_demotion(leaf.path);
          return ++leaves < 64;
        });
    if (!is_more) cursor_.clear();
    batch.demote(inside, 0, [] { return true; });
    batch.promote(inside, [] { return true; });
  }
  const placement::migration_counts& counts() const noexcept { return counts_; }

 private:
  placement::placed_tree& tree_;
  base::random random_;
  std::string cursor_;
  placement::migration_counts counts_;
};

}  // namespace isotherm::index
