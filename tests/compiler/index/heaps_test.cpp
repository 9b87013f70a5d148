// The values of the table that the compiler made movable are in the heaps in which the indexes' own
// hash table, whose guides are written by hand, has its pairs: after every window, both watched by
// a collector that moves what was used and what was not.
#include "compiler/index/chained_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "collector/collector.hpp"
#include "heap/usage.hpp"
#include "index/adapter.hpp"
#include "index/any_index.hpp"
#include "index/hash/hash_pugh.hpp"

namespace isotherm::index {
namespace {

constexpr std::size_t kKeys = 600;

/// Pairs, or values, by heap.
struct whereabouts {
  std::uint64_t newborn = 0, hot = 0, cold = 0;
  bool operator==(const whereabouts&) const = default;
  friend std::ostream& operator<<(std::ostream& to, const whereabouts& shown) {
    return to << shown.newborn << " new, " << shown.hot << " hot, " << shown.cold << " cold";
  }
};

std::uint64_t objects_in(heap::kind where) {
  return heap::usage_of(where, heap::residency::left_out).objects;
}

std::string key_of(std::size_t i) {  // different in its first eight bytes
  const std::string digits = std::to_string(i);
  return std::string(8 - digits.size(), '0') + digits + " and more";
}

void read_each(any_index& index, std::size_t step) {
  for (std::size_t i = 0; i < kKeys; i += step) {
    access inside;
    EXPECT_EQ(index.find(inside, key_of(i)), "value " + key_of(i));
  }
}

/// After each of some windows. `objects`: those that the collector moves, for each pair.
std::vector<whereabouts> history_of(std::unique_ptr<any_index> index, std::uint64_t objects) {
  collector::options chosen;
  chosen.policy = collector::policy_name::published;
  chosen.cold_threshold = 1;
  chosen.adaptive_threshold = false;
  collector::object_collector collector(chosen);
  std::vector<whereabouts> seen;
  const auto note = [&] {
    seen.push_back({objects_in(heap::kind::newborn) / objects,
                    objects_in(heap::kind::hot) / objects, objects_in(heap::kind::cold) / objects});
  };
  const auto window = [&] {
    collector.run_window();
    note();
  };
  for (std::size_t i = 0; i < kKeys; ++i) index->insert(key_of(i), "value " + key_of(i));
  note();
  window();
  read_each(*index, 2);
  window();
  read_each(*index, 5);
  window();
  for (std::size_t i = 0; i < kKeys; i += 3) index->erase(key_of(i));
  index->upsert(key_of(1), "another");
  window();
  window();
  index.reset();
  while (sync::retired_blocks() > 0) sync::reclaim_ready();
  note();
  return seen;
}

TEST(CompiledTable, HasItsValuesInTheHeapsInWhichGuidesByHandHaveThem) {
  const auto compiled = history_of(std::make_unique<chained::table>(), 1);
  const auto by_hand = history_of(make_adapter<hash_pugh>(management::on, kKeys), 2);
  EXPECT_EQ(compiled, by_hand);
  EXPECT_EQ(compiled[0], (whereabouts{kKeys, 0, 0}));
  EXPECT_GT(compiled[2].hot, 0u);
  EXPECT_GT(compiled[2].cold, 0u);
  EXPECT_EQ(compiled.back(), whereabouts{});
}

}  // namespace
}  // namespace isotherm::index
