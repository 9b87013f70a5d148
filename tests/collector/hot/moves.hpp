// Moves within HOT that a test asks for, and what they take meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/policy/policy.hpp"
#include "collector/protocol/veto.hpp"
#include "collector/scan/search.hpp"
#include "collector/window/compaction.hpp"
#include "collector/window/migration.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

class HotMoves : public testing::Test {
 protected:
  explicit HotMoves(policy_name name = policy_name::budget) : decides_(make_policy(name)) {
    heap::trim();
  }

  /// Empties the extents group by group, of which `find` lists the objects. Returns the bytes that
  /// it has moved within HOT; `most_` is what HOT took at most meanwhile.
  template <class Find>
  std::uint64_t empty(const std::vector<heap::sparse_extents>& groups, Find find) {
    const auto protocol = make_veto_protocol();
    window_statistics seen;
    most_ = extent_bytes();
    migration moves(*protocol, {64 << 10, 10'000'000}, [] { return false; }, seen);
    std::vector<candidate> candidates;
    for (const heap::sparse_extents& group : groups) {
      for (guides::progress so_far; !so_far.is_over;) {
        find(*decides_, group, so_far, candidates);
        for (moves.begin_list(candidates); moves.move_batch();) {
          heap::trim();
          most_ = std::max(most_, extent_bytes());
        }
      }
    }
    EXPECT_FALSE(moves.has_ended());
    heap::trim();
    return seen.compacted.bytes;
  }
  static std::uint64_t extent_bytes() {
    return heap::usage_of(heap::kind::hot, heap::residency::left_out).extent_bytes;
  }

  const std::unique_ptr<policy> decides_;
  std::uint64_t most_ = 0;
};

}  // namespace isotherm::collector
