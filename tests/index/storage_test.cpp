// An index takes its memory from the storage object that it was made with, and says for which level
// it wants a node.
#include "index/storage.hpp"
#include "index/any_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

// Instantiated for `leveled`.
#include "index/art/changes.hpp"
#include "index/art/search.hpp"
#include "index/btree/btree_coarse.cpp"
#include "index/btree/btree_occ.hpp"
#include "index/btree/changes.hpp"
#include "index/btree/search.hpp"
#include "index/hash/hash_chm.cpp"
#include "index/hash/hash_harris.cpp"
#include "index/hash/hash_pugh.cpp"
#include "index/masstree/operations.hpp"
#include "index/skip/skiplist_coarse.cpp"
#include "index/skip/skiplist_fraser.cpp"
#include "index/skip/skiplist_herlihy.cpp"

namespace isotherm::index {
namespace {

/// How many nodes were allocated for a level, by their size.
using allocations = std::map<std::size_t, std::map<unsigned, unsigned>>;

/// Plain pointers, and what was allocated by all copies of one object.
struct leveled : unmanaged {
  leveled() = default;
  explicit leveled(allocations& to) noexcept : noted(&to) {}
  void* allocate_node(std::size_t bytes, const node_place& place) const {
    if (noted) ++(*noted)[bytes][place.level];
    return unmanaged::allocate_node(bytes, place);
  }
  allocations* noted = nullptr;
};
static_assert(storage<leveled> && !std::is_empty_v<leveled>);

using level_counts = std::map<unsigned, unsigned>;
constexpr std::size_t kEntryBytes = sizeof(tree_entry<leveled>);

template <class Index>
allocations noted_by(const std::vector<std::string>& keys) {
  allocations noted;
  Index index(keys.size(), leveled(noted));
  for (const std::string& key : keys) EXPECT_EQ(insert(index, key, "value"), outcome::done);
  EXPECT_TRUE(index.is_valid());
  return noted;
}

/// "key-0000", "key-0001", ...
std::vector<std::string> keys_in_order(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) {
    std::string digits = std::to_string(i);
    keys.push_back("key-" + std::string(4 - digits.size(), '0') + digits);
  }
  return keys;
}

template <class Index>
class EveryStructure : public testing::Test {};
using structures =
    testing::Types<hash_pugh<leveled>, hash_harris<leveled>, hash_chm<leveled>,
                   skiplist_coarse<leveled>, skiplist_fraser<leveled>, skiplist_herlihy<leveled>,
                   btree_coarse<leveled>, btree_occ<leveled>, masstree<leveled>, art<leveled>>;
TYPED_TEST_SUITE(EveryStructure, structures);

TYPED_TEST(EveryStructure, AllocatesFromTheStorageObjectItWasMadeWith) {
  allocations first, second;
  TypeParam one(0, leveled(first)), other(0, leveled(second));
  first.clear();
  second.clear();
  for (const std::string& key : keys_in_order(1000)) insert(one, key, "value");
  const auto sum = [](const allocations& noted) {
    unsigned nodes = 0;
    for (const auto& [bytes, levels] : noted) {
      for (const auto& [level, count] : levels) nodes += count;
    }
    return nodes;
  };
  EXPECT_GE(sum(first), 1000u);
  EXPECT_EQ(sum(second), 0u);
}

// --- levels ------------------------------------------------------------------------------------

using bplus_leaf = btree_detail::leaf<version_lock, leveled>;
using bplus_inner = btree_detail::inner<version_lock>;
static_assert(sizeof(bplus_leaf) != sizeof(bplus_inner));

TEST(NodeLevel, OfABtreeCountsTheRootThatASplitMakes) {
  auto noted = noted_by<btree_occ<leveled>>(keys_in_order(63));
  EXPECT_EQ(noted[sizeof(bplus_leaf)], (level_counts{{0, 1}}));
  EXPECT_EQ(noted[kEntryBytes], (level_counts{{1, 63}}));
  noted = noted_by<btree_occ<leveled>>(keys_in_order(65));
  EXPECT_EQ(noted[sizeof(bplus_leaf)], (level_counts{{0, 1}, {1, 2}}));
  EXPECT_EQ(noted[sizeof(bplus_inner)], (level_counts{{0, 1}}));
  // The entry of the 64th key was there before its leaf was split.
  EXPECT_EQ(noted[kEntryBytes], (level_counts{{1, 64}, {2, 1}}));
}

TEST(NodeLevel, OfABtreeIsCountedFromItsNewRoot) {
  // Keys in order fill their leaves, of which 42 fit below one inner node.
  auto noted = noted_by<btree_occ<leveled>>(keys_in_order(62 * 60));
  EXPECT_EQ(noted[sizeof(bplus_inner)], (level_counts{{0, 2}, {1, 2}}));
  EXPECT_EQ(noted[sizeof(bplus_leaf)][0], 1u);
  EXPECT_EQ(noted[sizeof(bplus_leaf)][1], 2u * 41);
  EXPECT_GT(noted[sizeof(bplus_leaf)][2], 2u * 10);
  EXPECT_EQ(noted[kEntryBytes].rbegin()->first, 3u);
}

TEST(NodeLevel, OfArtIsTheNumberOfNodesAbove) {
  using namespace art_detail;
  auto noted = noted_by<art<leveled>>({"aa", "ab", "ac", "ad", "ae"});
  EXPECT_TRUE(noted[sizeof(node256)].empty()) << "the root is a part of the index";
  EXPECT_EQ(noted[sizeof(node4)], (level_counts{{1, 1}}));
  EXPECT_EQ(noted[sizeof(node16)], (level_counts{{1, 1}}));
  // "ab" was to hang below the root, where it met "aa".
  EXPECT_EQ(noted[kEntryBytes], (level_counts{{1, 2}, {2, 3}}));
}

TEST(NodeLevel, OfArtCountsTheNodesOfALongPrefix) {
  using namespace art_detail;
  const std::string common(20, 'x');
  auto noted = noted_by<art<leveled>>({common + "a", common + "b", common + "c"});
  EXPECT_EQ(noted[sizeof(node4)], (level_counts{{1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(noted[kEntryBytes], (level_counts{{1, 2}, {4, 1}}));
  noted = noted_by<art<leveled>>({common + "a", common + "b", "xxxx"});
  EXPECT_EQ(noted[sizeof(node4)], (level_counts{{1, 2}, {2, 1}, {3, 1}}));  // a prefix was split
}

TEST(NodeLevel, OfMasstreeCountsTheRootThatASplitMakes) {
  using namespace masstree_detail;
  auto noted = noted_by<masstree<leveled>>(keys_in_order(17));
  EXPECT_EQ(noted[border::size_of(kSlots)], (level_counts{{0, 1}, {1, 1}}));
  EXPECT_EQ(noted[sizeof(interior)], (level_counts{{0, 1}}));
  EXPECT_EQ(noted[kEntryBytes], (level_counts{{1, 16}, {2, 1}}));
  // Sixteen border nodes fit below one interior node.
  noted = noted_by<masstree<leveled>>(keys_in_order(15 * 20));
  EXPECT_EQ(noted[sizeof(interior)], (level_counts{{0, 2}, {1, 1}}));
  EXPECT_EQ(noted[border::size_of(kSlots)], (level_counts{{0, 1}, {1, 16}, {2, 3}}));
}

TEST(NodeLevel, OfMasstreeGoesOnThroughTheLayers) {
  using namespace masstree_detail;
  const std::string common(24, 'x');
  auto noted = noted_by<masstree<leveled>>(
      {common + "a", common + "b", common + "c", common + "d", common + "e"});
  EXPECT_EQ(noted[border::size_of(kFewSlots)], (level_counts{{1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(noted[border::size_of(kSomeSlots)], (level_counts{{3, 1}}));
  EXPECT_EQ(noted[kEntryBytes], (level_counts{{1, 2}, {4, 3}}));
}

TEST(NodeLevel, OfASkipListIsThatOfTheTopmostLink) {
  using node = skip_detail::node<leveled, skip_detail::no_state>;
  auto noted = noted_by<skiplist_coarse<leveled>>(keys_in_order(1000));
  for (const auto& [bytes, levels] : noted) {
    ASSERT_EQ(levels.size(), 1u);
    const std::size_t height = (bytes - sizeof(node)) / sizeof(node::link);
    EXPECT_EQ(levels.begin()->first, skip_detail::kMaxHeight - height);
  }
}

}  // namespace
}  // namespace isotherm::index
