// Moves within HOT that a test asks for, and what they take meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/compaction.hpp"
#include "collector/migration.hpp"
#include "collector/policy/policy.hpp"
#include "collector/protocol_veto.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

class HotMoves : public testing::Test {
 protected:
  explicit HotMoves(policy_name name = policy_name::budget) : decides_(make_policy(name)) {
    heap::trim();
  }

  /// Calls `work(compaction&)`. Returns the bytes that it has moved within HOT; `most_` is what HOT
  /// took at most meanwhile.
  template <class Work>
  std::uint64_t run(Work work) {
    const auto protocol = make_veto_protocol();
    const auto stop = [] { return false; };
    window_statistics seen;
    most_ = extent_bytes();
    migration moves(
        *protocol, {64 << 10, 10'000'000}, stop,
        [this](std::uint64_t) {
          heap::trim();
          most_ = std::max(most_, extent_bytes());
        },
        seen);
    std::vector<candidate> candidates;
    compaction compacts(moves, *decides_, candidates, stop);
    EXPECT_TRUE(work(compacts));
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
