// SINLK under strain: a batch of leaves is demoted while its scope keeps the memory of the nodes
// that it moves, so that the pages of fast memory cannot tell when to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "placement/node_memory.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::placement {
namespace {

constexpr std::uint64_t kNodeBytes = 1024, kLeaves = 4000;  // no more than a batch visits

/// A root with leaves below it, all of them fast at first.
class wide_tree final : public placed_tree {
 public:
  wide_tree() : uses_(kLeaves) {
    EXPECT_TRUE(open_node_memory());
    root_ = allocate_node(tier::fast, kNodeBytes);
    for (std::uint64_t i = 0; i < kLeaves; ++i) {
      leaves_.push_back(allocate_node(tier::fast, kNodeBytes));
    }
  }
  ~wide_tree() override {
    for (void* leaf : leaves_) deallocate_node(leaf);
    deallocate_node(root_);
  }

  bool visit_leaves(const sync::scope&, std::string& cursor, const leaf_visitor& visit) override {
    std::size_t at = cursor.empty() ? 0 : std::stoul(cursor);
    for (bool goes_on = true; goes_on && at < leaves_.size(); ++at) {
      void* const path[] = {root_, leaves_[at]};
      goes_on = visit({path, uses_[at], kNodeBytes});
    }
    cursor = std::to_string(at);
    return at < leaves_.size();
  }
  relocated relocate(const sync::scope&, void*, void* node, tier to) override {
    if (node == root_) return {relocation_result::changed};
    const auto at = std::ranges::find(leaves_, node);
    EXPECT_NE(at, leaves_.end());
    *at = allocate_node(to, kNodeBytes);
    retire_node(node);
    return {relocation_result::done, *at};
  }

 private:
  void* root_;
  std::vector<void*> leaves_;
  std::vector<use_count> uses_;
};

TEST(SinlkStrain, ABatchEndsWhenWhatItDemotedIsEnough) {
  wide_tree tree;
  const std::uint64_t all = used_bytes(tier::fast);
  sinlk policy({});
  policy.resize({.bytes = all});
  policy.look(tree, 1, kLeaves);
  const sinlk_statistics seen = policy.statistics();
  ASSERT_EQ(seen.strains, 1u) << "fast memory was full";
  EXPECT_LT(used_page_bytes(tier::fast), all * 95 / 100) << "the strain is over";
  EXPECT_GT(seen.fast_bytes, all * 80 / 100) << "and no more was demoted than that took";
}

}  // namespace
}  // namespace isotherm::placement
