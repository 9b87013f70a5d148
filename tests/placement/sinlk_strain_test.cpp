// SINLK under strain: a batch of leaves is demoted while its scope keeps the memory of the nodes
// that it moves, so that the pages of fast memory cannot tell when to end.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "placement/node_memory.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::placement {
namespace {

constexpr std::uint64_t kNodeBytes = 1024, kLeaves = 4000;  // no more than a batch visits

/// A root with leaves below it, all of them fast at first.
class wide_tree final : public placed_tree {
 public:
  /// Leaves with holes lie in no order: the node that was beside each of them is gone.
  explicit wide_tree(std::uint64_t leaves, bool has_holes = false) : uses_(leaves) {
    EXPECT_TRUE(open_node_memory());
    root_ = allocate_node(tier::fast, kNodeBytes);
    std::vector<void*> others;
    for (std::uint64_t i = 0; i < leaves; ++i) {
      leaves_.push_back(allocate_node(tier::fast, kNodeBytes));
      if (has_holes) others.push_back(allocate_node(tier::fast, kNodeBytes));
    }
    for (void* each : others) deallocate_node(each);
    base::random random(1);
    for (std::uint64_t i = leaves; has_holes && i-- > 1;) {
      std::swap(leaves_[i], leaves_[random.below(i + 1)]);
    }
    for (std::uint64_t i = 0; i < leaves; ++i) places_[leaves_[i]] = i;
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
  relocated relocate(const sync::scope&, std::span<void* const> path, tier to) override {
    void* const node = path.back();
    if (node == root_) return {relocation_result::changed};
    const std::size_t place = places_.at(node);
    places_.erase(node);
    void* const made = leaves_[place] = allocate_node(to, kNodeBytes);
    places_[made] = place;
    retire_node(node);
    return {relocation_result::done, made};
  }

 private:
  void* root_;
  std::vector<void*> leaves_;
  std::unordered_map<void*, std::size_t> places_;  // in `leaves_`
  std::vector<use_count> uses_;
};

TEST(SinlkStrain, ABatchEndsWhenWhatItDemotedIsEnough) {
  wide_tree tree(kLeaves);
  const std::uint64_t all = used_bytes(tier::fast);
  sinlk policy({});
  policy.resize({.bytes = all});
  policy.look(tree, 1, kLeaves);
  const sinlk_statistics seen = policy.statistics();
  ASSERT_EQ(seen.strains, 1u) << "fast memory was full";
  EXPECT_LT(used_page_bytes(tier::fast), all * 95 / 100) << "the strain is over";
  EXPECT_GT(seen.fast_bytes, all * 80 / 100) << "and no more was demoted than that took";
}

// The holes that a batch leaves count as taken until their pages are empty: the next ones must not
// demote for them once more.
TEST(SinlkStrain, AVisitOfManyBatchesDemotesWhatTheLimitAsks) {
  wide_tree tree(6 * kLeaves, true);
  const std::uint64_t nodes = used_bytes(tier::fast), pages = used_page_bytes(tier::fast);
  ASSERT_GT(pages, 2 * nodes * 9 / 10) << "half of the pages are holes";
  const std::uint64_t room = pages * 100 / 97;
  sinlk policy({});
  policy.resize({.bytes = room});
  // The first look learns what is cold.
  for (std::uint64_t now = 1; now <= 4; ++now) policy.look(tree, now, 0);
  const sinlk_statistics seen = policy.statistics();
  ASSERT_EQ(seen.strains, 1u);
  EXPECT_LE(used_page_bytes(tier::fast), room * 95 / 100 + (64 << 10));
  const std::uint64_t asked = pages - room * 85 / 100;
  EXPECT_LE(seen.moved.demoted_bytes, asked + kNodeBytes);
  EXPECT_GE(seen.moved.demoted_bytes, asked * 9 / 10);
}

}  // namespace
}  // namespace isotherm::placement
