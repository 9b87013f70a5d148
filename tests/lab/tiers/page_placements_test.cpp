// The thread of a placement of pages.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "index/index.hpp"
#include "lab/tiers/page_policies.hpp"
#include "lab/tiers/placements.hpp"
#include "placement/node_memory.hpp"
#include "placement/one_tier.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;

// Fast memory is filled by pages that the thread adds, and then TPP's tick makes room again.
TEST(PagePlacement, ItsThreadAddsNewPagesAndTicks) {
  ASSERT_TRUE(placement::open_node_memory());
  testing_help::one_tier chooser(tier::fast);
  auto tree = index::make_placed("btree-occ", index::management::off, chooser);
  ASSERT_TRUE(tree);
  unsigned keys = 0;
  const auto insert_keys = [&] {
    for (int i = 0; i < 1'000; ++i) tree->index->insert(std::to_string(keys++), "value");
  };
  insert_keys();
  const auto used_bytes = [] {
    const auto range = placement::used_range(tier::fast);
    return (range.end - range.begin + page_tiers::kPageBytes - 1) / page_tiers::kPageBytes *
           page_tiers::kPageBytes;
  };
  const std::uint64_t at_first = used_bytes(), room = at_first + 100 * page_tiers::kPageBytes;
  const auto made = make_placement("tpp", {.fast_bytes = room});
  ASSERT_TRUE(made);
  tier_placement* const placed = made->get();
  ASSERT_TRUE(placed->begin(*tree->nodes, [](double) { return base::result<void>(); }));
  ASSERT_EQ(placed->fast_bytes(), at_first);
  while (used_bytes() <= room) insert_keys();
  while (placed->details().at("moved_pages") == 0) std::this_thread::yield();
  placed->end();
  EXPECT_GT(placed->fast_bytes(), at_first);
  EXPECT_LE(placed->fast_bytes(), room);
}

}  // namespace
}  // namespace isotherm::lab
