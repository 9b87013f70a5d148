// Promotion of hot paths and demotion of cold nodes (SINLK, 4.2.1 and 4.2.2), for the leaves that
// were visited in one scope.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "placement/placed_tree.hpp"

namespace isotherm::placement {

struct migration_counts {
  std::uint64_t promoted_nodes = 0, promoted_bytes = 0;
  std::uint64_t demoted_nodes = 0, demoted_bytes = 0;
  std::uint64_t refused = 0;  ///< nodes that had changed since they were chosen
};

/// Queues of nodes to be moved, and the moves. For one thread, inside one scope.
class migration {
 public:
  migration(placed_tree& tree, migration_counts& counts) : tree_(tree), counts_(counts) {}

  /// Queues a leaf, by its path, or the upper `levels` nodes of the path alone. Paths come in the
  /// order of their leaves. The path of a leaf that is an inner node too comes after those of the
  /// leaves below it.
  void queue_promotion(std::span<void* const> path, std::size_t levels = ~std::size_t{0});
  /// A leaf that is slow already stands for its lowest fast ancestor (SINLK, 4.3.4).
  void queue_demotion(std::span<void* const> path);

  /// Returns the bytes that the queued paths which were not promoted yet take in slow memory.
  std::uint64_t promotion_bytes() const noexcept { return promotion_bytes_; }

  /// Moves queued paths to fast memory, from the top down, so that the single-boundary rule holds
  /// at each moment, until `may_go_on` says no.
  void promote(const sync::scope& inside, const std::function<bool()>& may_go_on);
  /// Algorithm 1, the lowest nodes first: a node is demoted when all its queued children have been.
  void demote(const sync::scope& inside, unsigned demote_level,
              const std::function<bool()>& may_go_on);

 private:
  struct place {
    void* node;
    place* parent;
    unsigned level;
    bool is_leaf;
    bool is_queued = false;     // to be demoted
    std::uint64_t waiting = 0;  // bytes of promotion_bytes_
  };
  place& enter(std::span<void* const> path);
  void queue(place& at);
  bool move(const sync::scope& inside, place& at, tier to);

  placed_tree& tree_;
  migration_counts& counts_;
  std::deque<place> places_;
  std::vector<place*> path_;  // of the last leaf: neighbours share most of it
  std::vector<void*> nodes_;  // of the path of a node that is moved
  std::vector<place*> promotions_;
  std::uint64_t promotion_bytes_ = 0;
  std::vector<std::vector<place*>> demotions_;  // by level
};

}  // namespace isotherm::placement
