// The searches inside a B+tree's node.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "index/btree/node.hpp"

namespace isotherm::index::btree_detail {
namespace {

TEST(BtreeNode, FirstNotLessAgreesWithTheLibrary) {
  start_array starts[kLeafCapacity];
  for (unsigned count = 0; count <= kLeafCapacity; ++count) {
    std::vector<std::uint64_t> plain;
    // Each number is there twice: the first of equal ones is wanted.
    for (unsigned i = 0; i < count; ++i) plain.push_back(10 * (i / 2 + 1));
    for (unsigned i = 0; i < count; ++i) starts[i].store_release(plain[i]);
    for (std::uint64_t wanted = 0; wanted < 10 * (count / 2 + 2); wanted += 5) {
      const auto expected = std::ranges::lower_bound(plain, wanted) - plain.begin();
      EXPECT_EQ(first_not_less(starts, count, wanted), expected) << count << " " << wanted;
    }
  }
}

TEST(BtreeNode, KeysAreReadOnlyWhereStartsAreEqual) {
  const std::vector<std::string> keys = {"",          "a",         "aaaaaaaa", "aaaaaaaab",
                                         "aaaaaaaac", "aaaaaaaad", "b",        "bb"};
  start_array starts[kLeafCapacity];
  for (unsigned i = 0; i < keys.size(); ++i) starts[i].store_release(start_of(keys[i], 0));
  const auto find = [&](std::string_view key, unsigned& read) {
    read = 0;
    return find_place(starts, static_cast<unsigned>(keys.size()), start_of(key, 0), key,
                      [&](unsigned i) {
                        ++read;
                        return std::string_view(keys[i]);
                      });
  };
  unsigned read = 0;
  for (unsigned i = 0; i < keys.size(); ++i) {
    const place found = find(keys[i], read);
    EXPECT_TRUE(found.is_equal);
    EXPECT_EQ(found.at, i);
  }
  EXPECT_EQ(find("c", read).at, keys.size());
  EXPECT_EQ(read, 0u);
  EXPECT_EQ(find("aaaaaaaabb", read).at, 4u);
  EXPECT_LE(read, 3u);
  EXPECT_FALSE(find("ba", read).is_equal);
}

TEST(BtreeNode, StartsLieBehindWhatIsSkipped) {
  EXPECT_EQ(start_of("user12345678", 4), start_of("12345678", 0));
  EXPECT_EQ(start_of("user", 4), 0u);
  EXPECT_EQ(start_of("us", 4), 0u);  // reached by a race, not believed
  EXPECT_LT(start_of("usera", 4), start_of("userb", 4));
  EXPECT_EQ(common_prefix("userab", "userb"), 4u);
  EXPECT_EQ(common_prefix("", "a"), 0u);
  EXPECT_EQ(common_prefix("ab", "ab"), 2u);
}

}  // namespace
}  // namespace isotherm::index::btree_detail
