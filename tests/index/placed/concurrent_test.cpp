// Trees that threads use while others move their nodes between fast and slow memory and, with
// guides, a collector moves the objects.
#include <atomic>
#include <thread>
#include <vector>

#include "collector/collector.hpp"
#include "index/placed/placed_tree.hpp"

namespace isotherm::index {
namespace {

class PlacedTree : public placed_tree_test {};

/// In a masstree half of the keys are in a layer that grows higher than a node, and others in small
/// layers that go and come back.
std::string key_of(std::uint64_t number, unsigned thread) {
  if (number % 4 == 2) {
    return std::to_string(10'000'000 + number / 8) + std::to_string(number % 8) +
           std::to_string(thread);
  }
  return std::string(number % 2 * 8, 'L') + placed_key(number) + "#" + std::to_string(thread);
}

/// Scans a few records from `begin` on.
void expect_ordered_scan(any_index& index, std::string_view begin) {
  access inside;
  int left = 20;
  std::string before;
  index.scan(inside, begin, [&](std::string_view found, std::string_view) {
    EXPECT_LT(before, found);
    before = found;
    return --left > 0;
  });
}

TEST_P(PlacedTree, WritersReadersAndBothMoversAtOnce) {
  constexpr unsigned kThreads = 3;
  constexpr std::uint64_t kKeys = 400;
#if defined(ISOTHERM_SANITIZED)
  const std::uint64_t steps = 8'000 * test_scale();
#else
  const std::uint64_t steps = 60'000 * test_scale();
#endif
  std::atomic<unsigned> running{kThreads};
  std::atomic<bool> has_moved{false};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      base::random random(seed_ + t);
      std::vector<std::string> mine(kKeys);  // empty: absent
      // Goes on until a node has moved: the mover may get a processor late.
      for (std::uint64_t i = 0; i < steps || (!has_moved.load() && i < 100 * steps); ++i) {
        const std::uint64_t k = random.below(kKeys);
        const std::string key = key_of(k, t);
        const std::string value = std::to_string(i + 1);
        switch (random.below(5)) {
          case 0:
            ASSERT_EQ(index().erase(key), !mine[k].empty());
            mine[k].clear();
            break;
          case 1:
            ASSERT_EQ(index().upsert(key, value), outcome::done);
            mine[k] = value;
            break;
          case 2:
            expect_ordered_scan(index(), key);
            break;
          default: {
            access inside;
            const auto found = index().find(inside, key);
            ASSERT_EQ(found.value_or(""), mine[k]) << key;
          }
        }
      }
      running.fetch_sub(1);
    });
  }
  std::jthread moving_nodes([&] {
    node_mover moves(*tree_.nodes, seed_ + 99);
    while (running.load() > 0) {
      moves.step();
      has_moved = moves.counts().promoted_nodes + moves.counts().demoted_nodes > 0;
    }
    EXPECT_TRUE(has_moved);
  });
  if (index().is_managed()) {
    collector::options chosen;
    chosen.policy = collector::policy_name::published;
    chosen.cold_threshold = 1;
    chosen.adaptive_threshold = false;
    collector::object_collector objects(chosen);
    while (running.load() > 0) objects.run_window();
  }
  threads.clear();
  moving_nodes.join();
  EXPECT_TRUE(index().is_valid());
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(All, PlacedTree, placed_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
