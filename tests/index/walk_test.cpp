// A walk promises this beside changes: a key present throughout is seen at least once.
#include <set>

#include "index/any_index.hpp"

namespace isotherm::index {
namespace {

class IndexWalk : public any_index_test {};

std::string key_of(std::uint64_t i) { return "key" + std::to_string(base::mix64(i)); }

TEST_P(IndexWalk, KeysPresentThroughoutAreSeenWhileOthersComeAndGo) {
  base::random random(test_seed());
  auto index = make_index();
  constexpr std::uint64_t kStable = 3000;
  for (std::uint64_t i = 0; i < kStable; ++i) index->insert(key_of(i), "stable");
  std::set<std::string> seen;
  std::uint64_t cursor = 0, added = kStable, removed = kStable;
  access inside;
  do {
    cursor = index->walk(inside, cursor, [&](auto key, auto) {
      seen.emplace(key.value());
      return true;
    });
    // Bounded, or a walk in key order would be outrun; many times the first size: tables double.
    for (int i = 0; i < 200 && added < 20 * kStable; ++i) index->insert(key_of(added++), "new");
    for (std::uint64_t i = random.below(100); i > 0 && removed < added; --i) {
      EXPECT_TRUE(index->erase(key_of(removed++)));
    }
  } while (cursor != 0);
  for (std::uint64_t i = 0; i < kStable; ++i) EXPECT_TRUE(seen.contains(key_of(i))) << i;
  EXPECT_TRUE(index->is_valid());
}

TEST_P(IndexWalk, PiecesAreShort) {
  auto index = make_index();
  for (std::uint64_t i = 0; i < 10000; ++i) index->insert(key_of(i), "v");
  access inside;
  std::uint64_t cursor = 0;
  do {
    int pairs = 0;
    cursor = index->walk(inside, cursor, [&](auto, auto) {
      ++pairs;
      return true;
    });
    EXPECT_LT(pairs, 100);
  } while (cursor != 0);
}

TEST_P(IndexWalk, VisitorEndsAPiece) {
  auto index = make_index();
  for (std::uint64_t i = 0; i < 100; ++i) index->insert(key_of(i), "v");
  access inside;
  int pairs = 0;
  const auto stop_at_once = [&](auto, auto) {
    ++pairs;
    return false;
  };
  std::uint64_t cursor = 0;
  while (pairs == 0) cursor = index->walk(inside, cursor, stop_at_once);
  EXPECT_EQ(pairs, 1);
}

TEST_P(IndexWalk, EmptyIndexEnds) {
  auto index = make_index(100000);
  access inside;
  std::uint64_t cursor = 0;
  int pairs = 0;
  do {
    cursor = index->walk(inside, cursor, [&](auto, auto) {
      ++pairs;
      return true;
    });
  } while (cursor != 0);
  EXPECT_EQ(pairs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, IndexWalk, all_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
