// Two tiers of memory for the nodes of trees, and what a tree tells of a node (SINLK, 4.1).
//
// The single-boundary rule: every ancestor of a node in fast memory is in fast memory (SINLK,
// 3.1.1). Each path from the root therefore leads through fast nodes first, then through slow ones.
#pragma once

#include <array>
#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::placement {

enum class tier : std::uint8_t { fast, slow };

/// The place in its tree at which a node is about to be linked.
struct node_place {
  unsigned level = 0;            ///< how many nodes are above it
  const void* parent = nullptr;  ///< the node above, if the tree knows it
  bool is_inner = false;         ///< it is no leaf when it is made; others may become inner ones
  /// Nodes that will hang below it, or whose children will, or in whose tier it is to be. If one of
  /// them is fast, the node must be.
  std::array<const void*, 2> covers{};
};

/// How often a leaf was used, in two bytes. Any thread may add; of two at one moment one may be
/// lost, which is why adding costs no locked instruction.
class use_count {
 public:
  static constexpr std::uint16_t kMost = 0xffff;

  void add() noexcept {
    const std::uint16_t seen = count_.load_relaxed();
    if (seen != kMost) count_.store_relaxed(static_cast<std::uint16_t>(seen + 1));
  }
  /// Adds to a count that lies in a node whose type does not say how uses are counted.
  static void add_to(use_count& uses) noexcept { uses.add(); }
  std::uint16_t value() const noexcept { return count_.load_relaxed(); }
  void set(std::uint16_t value) noexcept { count_.store_relaxed(value); }

 private:
  base::atomic<std::uint16_t> count_{0};
};

}  // namespace isotherm::placement
