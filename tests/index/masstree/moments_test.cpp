// Changes between two steps of a scan, made there (sync/step_hook.hpp): sanitizer builds only.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "index/masstree/cursor.hpp"
#include "index/masstree/nodes.hpp"
#include "sync/steps.hpp"

namespace isotherm::index::masstree_detail {
namespace {

#if defined(ISOTHERM_SANITIZED)

link leaf(std::uintptr_t number) { return 8 * number | 1; }
std::vector<link> leaves(std::vector<std::uintptr_t> numbers) {
  for (auto& each : numbers) each = leaf(each);
  return numbers;
}

/// Adds leaf `slice` to the node that a search finds for it.
void add(base::atomic<link>& top, std::uint64_t slice) {
  version seen;
  border* const at = find_border(top, top.load_acquire(), slice, seen);
  at->state.lock();
  insert_entry(at, {slice, 8}, leaf(slice), kTestMemory, 0);
}

void empty_and_remove(border* n) {
  n->state.lock();
  while (n->order().count() > 0) n->remove(0);
  n->state.unlock();
  EXPECT_EQ(remove_border(n, kTestMemory), removal::done);
}

/// Returns what a cursor gives before it says that something has changed; `act` runs when it knows
/// `next` and has not read it.
std::vector<link> seen_until_told(base::atomic<link>& top, direction where_to, const border* next,
                                  const std::function<void()>& act) {
  cursor at(top, where_to);
  at.seek(std::nullopt);
  bool has_acted = false;
  const sync::at_steps hook([&](sync::step s, const void* where) {
    if (s != sync::step::between_nodes || where != next || has_acted) return;
    has_acted = true;
    act();
  });
  std::vector<link> seen;
  for (auto found = at.next(); found; found = at.next()) {
    EXPECT_NE(*found, 0U) << "the end, and was told nothing";
    if (*found == 0) break;
    seen.push_back(*found);
  }
  EXPECT_TRUE(has_acted);
  return seen;
}

// The range of a first child that is removed falls to its right neighbour.
TEST(MasstreeCursor, SeesNothingTwiceThatANodeLeftToItsRightNeighbour) {
  access inside;
  const siblings nodes;
  base::atomic<link> top{link_to(nodes.top)};
  for (const std::uint64_t slice : {20, 21, 40}) add(top, slice);
  const auto seen = seen_until_told(top, direction::up, nodes.right, [&] {
    empty_and_remove(nodes.left);
    add(top, 20);
  });
  EXPECT_EQ(seen, leaves({20, 21}));
}

// The range of another child falls to its left neighbour.
TEST(MasstreeCursor, SeesNothingTwiceThatANodeLeftToItsLeftNeighbour) {
  access inside;
  const siblings nodes;
  base::atomic<link> top{link_to(nodes.top)};
  for (const std::uint64_t slice : {20, 40, 41}) add(top, slice);
  const auto seen = seen_until_told(top, direction::down, nodes.left, [&] {
    empty_and_remove(nodes.right);
    add(top, 41);
  });
  EXPECT_EQ(seen, leaves({41, 40}));
}

#endif

}  // namespace
}  // namespace isotherm::index::masstree_detail
