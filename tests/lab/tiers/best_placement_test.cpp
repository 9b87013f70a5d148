// The best placement, of a tree of which a few keys are read.
#include "lab/tiers/best_placement.hpp"

#include <gtest/gtest.h>

#include <string>

#include "lab/simulation/simulated_trees.hpp"
#include "placement/node_memory.hpp"
#include "placement/one_tier.hpp"
#include "sync/retire.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;

class BestPlacement : public testing::TestWithParam<std::string_view> {
 protected:
  BestPlacement() {
    EXPECT_TRUE(placement::open_node_memory());
    auto made = make_simulated(GetParam(), slow_);
    EXPECT_TRUE(made);
    tree_ = std::move(*made);
    for (unsigned i = 0; i < 10'000; ++i) tree_.index->insert(key(i), "value");
    counter_.begin_counting();
    counter_.count_nodes();
    counted_visits = &counter_;
    for (unsigned i = 0; i < 10'000; ++i) {
      access inside;
      EXPECT_TRUE(tree_.index->find(inside, key(i % 100)));
    }
    counted_visits = nullptr;
  }
  ~BestPlacement() override {
    tree_.index.reset();  // before its placer
    for (int i = 0; i < 8 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
  }
  /// In a masstree some keys end where others go on to a layer: nodes that lead to layers hold
  /// entries too.
  static std::string key(unsigned number) {
    return number % 1'000 == 0 ? "key:" + std::to_string(1'000 + number / 1'000)
                               : "key:" + std::to_string(1'000'000 + number);
  }
  visit_tally counted() const {
    visit_tally sum;
    for (const auto kind : {visited::inner, visited::leaf, visited::entry}) {
      sum.add(counter_.of_kind(kind));
    }
    return sum;
  }
  visit_tally with_room_for(std::uint64_t bytes) {
    visit_tally sum = counted();
    place_best(*tree_.nodes, counter_, bytes, sum);
    return sum;
  }

  testing_help::one_tier slow_{tier::slow};
  index::placed_index tree_;
  visit_counter counter_;
};

class BestPlacementInLayers : public BestPlacement {};

// A request visits the node once, whether it ends there or goes on to a layer.
TEST_P(BestPlacementInLayers, ANodeThatIsALeafTooIsCountedOnce) {
  constexpr std::uint64_t kNodeBytes = 320, kRequests = 10'000;
  const visit_tally one = with_room_for(kNodeBytes);
  EXPECT_GT(one.visits[0], 0u);
  EXPECT_LE(one.visits[0], kRequests);
}

TEST_P(BestPlacement, OfNoRoomLeavesAllInSlowMemory) {
  const visit_tally all = counted();
  EXPECT_EQ(all.visits[0], 0u);
  EXPECT_GE(all.visits[1], 20'000u) << "an inner node and a leaf each";
  EXPECT_EQ(with_room_for(0).visits, all.visits);
}

TEST_P(BestPlacement, OfAllRoomHasAllVisitsInFastMemory) {
  const visit_tally all = counted(), best = with_room_for(placement::used_bytes(tier::slow));
  EXPECT_EQ(best.visits[0], all.visits[1]);
  EXPECT_EQ(best.visits[1], 0u);
  for (std::size_t i = 0; i < kCaches; ++i) EXPECT_EQ(best.misses[i][1], 0u) << i;
}

// A hundred keys of ten thousand are read: their nodes fit into a small part of the memory.
TEST_P(BestPlacement, TakesTheNodesThatAreVisited) {
  const visit_tally best = with_room_for(placement::used_bytes(tier::slow) / 10);
  EXPECT_EQ(best.visits[1], 0u);
  const visit_tally little = with_room_for(placement::used_bytes(tier::slow) / 1000);
  EXPECT_GT(little.visits[0], 0u);
  EXPECT_GT(little.visits[1], 0u);
  EXPECT_LT(little.misses[1][1], little.visits[1]) << "most visits hit a cache";
}

// The reverse of the layers: leaves are fast first, and each search begins in slow memory.
TEST_P(BestPlacement, SlowFastFillsTheLowestLevelFirstAndEvenly) {
  const std::uint64_t all = placement::used_bytes(tier::slow);
  const visit_tally counts = counted();
  std::uint64_t before = 0;
  for (const std::uint64_t room : {all / 100, all / 4, all}) {
    visit_tally sum = counts;
    place_slow_fast(*tree_.nodes, counter_, room, sum);
    EXPECT_EQ(sum.visits[0] + sum.visits[1], counts.visits[1]);
    EXPECT_GE(sum.visits[0], before);
    EXPECT_LE(sum.visits[0], with_room_for(room).visits[0]);
    before = sum.visits[0];
  }
  EXPECT_EQ(before, counts.visits[1]) << "there was room for all";
  const std::uint64_t leaf_visits = counter_.of_kind(visited::leaf).visits[1];
  visit_tally few = counts;
  place_slow_fast(*tree_.nodes, counter_, all / 100, few);
  EXPECT_LT(few.visits[0], leaf_visits / 10) << "leaves, and few of those that are visited";
}

INSTANTIATE_TEST_SUITE_P(All, BestPlacementInLayers, testing::Values("masstree"));
INSTANTIATE_TEST_SUITE_P(All, BestPlacement, testing::ValuesIn(index::placed_names()),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace isotherm::lab
