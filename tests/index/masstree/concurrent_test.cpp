// Masstree where it changes shape: layers that come and go, border nodes that fill and empty, under
// readers and scans of keys that stay.
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "index/any_index.hpp"

namespace isotherm::index {
namespace {

#if defined(ISOTHERM_SANITIZED)
constexpr int kSteps = 6000;
#else
constexpr int kSteps = 40000;
#endif

/// (held by guides, key set)
class MasstreeShapes : public testing::TestWithParam<std::tuple<management, int>> {};

/// Key `i` of a set that stresses one kind of change.
std::string key_of(int set, std::uint64_t i) {
  switch (set) {
    case 0:  // a few keys at the end of a chain of layers, which goes when they go
      return std::string(8 * (i % 5) + 3, 'c') + std::to_string(i % 7);
    case 1: {  // one layer, border nodes side by side
      const std::uint64_t slice = std::byteswap(i);
      return {reinterpret_cast<const char*>(&slice), 8};
    }
    default: {  // many small layers below one node
      std::string key = "12345678";
      key[7] = static_cast<char>('a' + i % 24);
      return key + "suffix" + std::to_string(i / 24);
    }
  }
}

constexpr std::uint64_t kKeys = 240;

std::set<std::string> stable_keys(int set) {
  std::set<std::string> stable;
  for (std::uint64_t i = 0; i < kKeys; i += 40) stable.insert(key_of(set, i) + "=");
  return stable;
}

/// Scans both ways until told to stop: in order, and each stable key seen.
void scan_until(const std::atomic<bool>& is_done, any_index& index,
                const std::set<std::string>& stable) {
  for (bool is_up = true; !is_done.load(); is_up = !is_up) {
    access inside;
    std::optional<std::string_view> before;
    std::size_t seen = 0;
    const auto note = [&](std::string_view key, std::string_view) {
      EXPECT_TRUE(!before || (is_up ? *before < key : *before > key));
      before = key;
      seen += stable.contains(std::string(key));
      return true;
    };
    if (is_up) {
      index.scan(inside, "", note);
    } else {
      index.scan_back(inside, std::nullopt, note);
    }
    ASSERT_EQ(seen, stable.size());
  }
}

void find_until(const std::atomic<bool>& is_done, any_index& index,
                const std::set<std::string>& stable) {
  while (!is_done.load()) {
    for (const std::string& key : stable) {
      access inside;
      const auto found = index.find(inside, key);
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(*found, key);
    }
  }
}

TEST_P(MasstreeShapes, StableKeysStayWhileNodesAndLayersComeAndGo) {
  const auto [kind, set] = GetParam();
  auto index = std::move(*make("masstree", kind));
  const std::uint64_t seed = test_seed();
  const std::set<std::string> stable = stable_keys(set);
  for (const std::string& key : stable) ASSERT_EQ(index->insert(key, key), outcome::done);
  std::atomic<bool> is_done{false};
  std::jthread scanning([&] { scan_until(is_done, *index, stable); });
  std::jthread finding([&] { find_until(is_done, *index, stable); });
  {
    std::vector<std::jthread> writers;
    for (unsigned t = 0; t < 3; ++t) {
      writers.emplace_back([&, t] {
        base::random random(seed + t);
        // Waves, so that what was full becomes empty and the other way round.
        for (int i = 0; i < kSteps; ++i) {
          const bool is_filling = i / 1000 % 2 == 0;
          const std::string key = key_of(set, random.below(kKeys));
          if ((random.below(8) == 0) != is_filling) {
            index->upsert(key, key);
          } else {
            index->erase(key);
          }
        }
      });
    }
  }
  is_done.store(true);
  scanning.join();
  finding.join();
  EXPECT_TRUE(index->is_valid());
  for (std::uint64_t i = 0; i < kKeys; ++i) index->erase(key_of(set, i));
  EXPECT_EQ(index->size(), stable.size());
  EXPECT_TRUE(index->is_valid());
  for (const std::string& key : stable) EXPECT_TRUE(index->erase(key));
  EXPECT_TRUE(index->is_valid());
}

// Nothing stays: the layers vanish altogether, also under clear(), and every answer adds up.
TEST_P(MasstreeShapes, InsertsAndErasesOfAllKeysAddUp) {
  const auto [kind, set] = GetParam();
  auto index = std::move(*make("masstree", kind));
  const std::uint64_t seed = test_seed();
  std::atomic<std::int64_t> net{0};
  {
    std::vector<std::jthread> writers;
    for (unsigned t = 0; t < 4; ++t) {
      writers.emplace_back([&, t] {
        base::random random(seed + t);
        std::int64_t mine = 0;
        for (int i = 0; i < kSteps; ++i) {
          const std::string key = key_of(set, random.below(24));
          if (random.below(2)) {
            mine += index->insert(key, key) == outcome::done;
          } else {
            mine -= index->erase(key);
          }
        }
        net += mine;
      });
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(index->size()), net.load());
  EXPECT_TRUE(index->is_valid());
  index->clear();
  EXPECT_EQ(index->size(), 0u);
  EXPECT_TRUE(index->is_valid());
}

// A search repairs the link to a layer without a lock. A thread that copies the link then, under
// the lock of the node that holds it, must hand on also what the search knew: the layer's new top.
// The threads go one after the other by relaxed stores, and end together, which orders nothing
// else. Only ThreadSanitizer tells.
TEST(MasstreeLinks, WhoCopiesARepairedLinkHandsOnTheTopItLeadsTo) {
  const auto in_layer = [](char c) { return std::string("zzzzzzzz") + c; };
  const auto beside = [](char c) { return std::string("a") + c; };
  constexpr char kSlots = 15;
  auto index = std::move(*make("masstree", management::off));
  for (char c = 0; c < kSlots; ++c) index->insert(in_layer(c), "v");
  for (char c = 1; c < kSlots; ++c) index->insert(beside(c), "v");  // the first layer is full, too
  std::atomic<int> turn{0};
  const auto in_turn = [&](int mine, auto act) {
    const auto wait_for = [&](int turn_of) {
      while (turn.load(std::memory_order_relaxed) < turn_of) std::this_thread::yield();
    };
    wait_for(mine);
    act();
    turn.store(mine + 1, std::memory_order_relaxed);
    wait_for(4);
  };
  {
    const auto reads = [&] {
      access inside;
      EXPECT_TRUE(index->contains(inside, in_layer(3)));
    };
    const std::jthread splits_layer([&] { in_turn(0, [&] { index->insert(in_layer(99), "v"); }); });
    const std::jthread repairs([&] { in_turn(1, reads); });
    const std::jthread copies([&] { in_turn(2, [&] { index->insert(beside(99), "v"); }); });
    const std::jthread follows([&] { in_turn(3, reads); });
  }
  EXPECT_TRUE(index->is_valid());
}

std::string shape_name(const testing::TestParamInfo<std::tuple<management, int>>& info) {
  static constexpr const char* kSets[] = {"chains", "one_layer", "small_layers"};
  return std::string(kSets[std::get<1>(info.param)]) +
         (std::get<0>(info.param) == management::on ? "_guide" : "_plain");
}

INSTANTIATE_TEST_SUITE_P(All, MasstreeShapes,
                         testing::Combine(testing::Values(management::off, management::on),
                                          testing::Values(0, 1, 2)),
                         shape_name);

}  // namespace
}  // namespace isotherm::index
