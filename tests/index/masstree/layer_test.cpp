// Masstree's parts, and the tree where its layers meet, one thread.
#include <algorithm>
#include <map>
#include <set>

#include "index/any_index.hpp"
#include "index/masstree/operations.hpp"  // instantiated for `counted`
#include "index/storage.hpp"

namespace isotherm::index {
namespace {

using masstree_detail::border;
using masstree_detail::interior;
using masstree_detail::kGoesOn;
using masstree_detail::kNoSlot;
using masstree_detail::kSlots;
using masstree_detail::node;
using masstree_detail::permutation;
using masstree_detail::version;
using masstree_detail::wanted;

// --- permutation -------------------------------------------------------------------------------

/// The fifteen slots, live ones first, as a list.
struct slot_list {
  std::vector<unsigned> slots;
  unsigned count = 0;

  explicit slot_list(permutation p) : count(p.count()) {
    for (unsigned place = 0; place < kSlots; ++place) slots.push_back(p[place]);
  }
  void insert(unsigned place) {
    std::rotate(slots.begin() + place, slots.begin() + count, slots.begin() + count + 1);
    ++count;
  }
  void remove(unsigned place, unsigned capacity) {
    std::rotate(slots.begin() + place, slots.begin() + place + 1, slots.begin() + capacity);
    --count;
  }
  bool operator==(const slot_list&) const = default;
};

void expect_same(permutation p, const slot_list& expected) {
  EXPECT_TRUE(p.is_valid());
  EXPECT_EQ(slot_list(p), expected);
  for (unsigned place = 0; place < kSlots; ++place) {
    EXPECT_EQ(p.holds(expected.slots[place]), place < expected.count);
  }
}

/// Every change that `p` allows, against the list.
void expect_changes_of(permutation p, unsigned capacity) {
  for (unsigned place = 0; place <= p.count() && p.count() < capacity; ++place) {
    slot_list expected(p);
    expected.insert(place);
    expect_same(p.inserted(place), expected);
  }
  for (unsigned place = 0; place < p.count(); ++place) {
    slot_list expected(p);
    expected.remove(place, capacity);
    expect_same(p.removed(place, capacity), expected);
    expected = slot_list(p);
    expected.count = place;
    expect_same(p.truncated(place), expected);
  }
}

TEST(MasstreePermutation, ChangesOfEveryCountAndPlaceAreThoseOfAList) {
  for (unsigned count = 0; count <= kSlots; ++count) {
    permutation reversed;
    for (unsigned i = 0; i < count; ++i) reversed = reversed.inserted(0);
    for (unsigned capacity = std::max(count, 1u); capacity <= kSlots; ++capacity) {
      expect_changes_of(permutation(count), capacity);
      expect_changes_of(reversed, capacity);
    }
  }
}

TEST(MasstreePermutation, LongHistoriesAreThoseOfAList) {
  base::random random(test_seed());
  for (unsigned capacity : {1u, 4u, 8u, kSlots}) {
    permutation p;
    for (int i = 0; i < 10000 && !testing::Test::HasFailure(); ++i) {
      if (i % 16 == 0) expect_changes_of(p, capacity);
      const bool is_insert = p.count() < capacity && (p.count() == 0 || random.below(2) == 0);
      p = is_insert ? p.inserted(static_cast<unsigned>(random.below(p.count() + 1)))
                    : p.removed(static_cast<unsigned>(random.below(p.count())), capacity);
      for (unsigned place = 0; place < capacity; ++place) ASSERT_LT(p[place], capacity);
    }
  }
}

// --- slices ------------------------------------------------------------------------------------

TEST(MasstreeSlices, AreTheKeysBytesAtEveryLengthAndDepth) {
  base::random random(test_seed());
  for (std::size_t length = 0; length <= 24; ++length) {
    for (int round = 0; round < 50; ++round) {
      std::string key(length, '\0');
      for (char& c : key) c = "\0\1a\xff"[random.below(4)];
      for (std::size_t depth = 0; depth <= length; ++depth) {
        std::uint64_t slice = 0;
        for (std::size_t i = depth; i < depth + 8; ++i) {
          slice = slice << 8 | (i < length ? static_cast<unsigned char>(key[i]) : 0);
        }
        const wanted sought(key, depth);
        EXPECT_EQ(sought.slice, slice);
        EXPECT_EQ(sought.rank, std::min<std::size_t>(length - depth, kGoesOn));
      }
    }
  }
}

// All strings of zeros and ones up to ten bytes: each is compared with each.
TEST(MasstreeSlices, OrderIsTheOrderOfBytes) {
  std::vector<std::string> all{""};
  for (std::size_t begin = 0, length = 1; length <= 10; ++length) {
    const std::size_t end = all.size();
    for (; begin < end; ++begin) {
      all.push_back(all[begin] + '\0');
      all.push_back(all[begin] + '\1');
    }
  }
  for (const std::string& a : all) {
    const wanted wanted_a(a, 0);
    for (const std::string& b : all) {
      const wanted wanted_b(b, 0);
      if (wanted_a < wanted_b) ASSERT_LT(a, b);
      if (wanted_a == wanted_b && a != b) {
        ASSERT_EQ(wanted_a.rank, kGoesOn);
        ASSERT_EQ(a.substr(0, 8), b.substr(0, 8));
      }
    }
  }
}

// --- nodes -------------------------------------------------------------------------------------

struct free_deleter {
  void operator()(border* n) const noexcept { std::free(n); }
};
using border_pointer = std::unique_ptr<border, free_deleter>;

border_pointer make_border(std::uint64_t bits, unsigned capacity = kSlots) {
  return border_pointer(::new (std::malloc(border::size_of(capacity))) border(bits, capacity));
}

class MasstreeBorder : public testing::TestWithParam<unsigned> {};

TEST_P(MasstreeBorder, FindsLiveEntriesOnlyAndInOrder) {
  base::random random(test_seed());
  const border_pointer made = make_border(version::kRoot, GetParam());
  border& n = *made;
  std::map<wanted, masstree_detail::link> expected;
  for (masstree_detail::link i = 1; i < 20000; ++i) {
    const wanted sought(random.below(4) ? random.below(12) << 56 : ~std::uint64_t{0},
                        static_cast<std::uint8_t>(random.below(10)));
    const unsigned place = n.place_of(n.order(), sought);
    EXPECT_EQ(place, std::distance(expected.begin(), expected.lower_bound(sought)));
    const unsigned slot = n.find(n.order(), sought);
    ASSERT_EQ(slot != kNoSlot, expected.contains(sought));
    if (slot != kNoSlot) {
      EXPECT_EQ(n.link_at(slot).load_acquire(), expected[sought]);
      n.remove(place);
      expected.erase(sought);
    } else if (!n.is_full(n.order())) {
      n.insert(sought, i);
      expected[sought] = i;
    }
    EXPECT_EQ(n.order().count(), expected.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, MasstreeBorder,
                         testing::Values(masstree_detail::kFewSlots, masstree_detail::kSomeSlots,
                                         kSlots));

TEST(MasstreeSlot, ReuseIsAChangeAndFirstUseIsNone) {
  const border_pointer made = make_border(version::kRoot);
  border& n = *made;
  const version before = n.state.now();
  for (std::uint8_t rank = 0; rank < 8; ++rank) {
    n.state.lock();
    n.insert(wanted(7, rank), 1);
    n.state.unlock();
  }
  n.state.lock();
  n.remove(3);
  n.state.unlock();
  EXPECT_FALSE(before.differs(n.state.now()));
  for (std::uint8_t rank = 0; rank < 8; ++rank) {  // seven slots were never used
    n.state.lock();
    n.insert(wanted(8, rank), 1);
    n.state.unlock();
    EXPECT_EQ(before.differs(n.state.now()), rank == 7);
  }
  EXPECT_FALSE(before.has_split(n.state.now()));
}

TEST(MasstreeInterior, LeadsWhereAListOfRangesLeads) {
  base::random random(test_seed());
  std::vector<border_pointer> borders;
  for (unsigned i = 0; i < 64; ++i) borders.push_back(make_border(0));
  const auto any_slice = [&] {  // dense, and the greatest number, which also pads
    const std::uint64_t slice = random.below(40);
    return slice == 39 ? ~std::uint64_t{0} : slice;
  };
  interior n(version::kRoot);
  n.children[0].store_release(borders[0].get());
  std::vector<std::pair<std::uint64_t, node*>> expected{{0, borders[0].get()}};  // (low, child)
  const auto range_of = [&](std::uint64_t slice) {
    const auto beyond =
        std::ranges::upper_bound(expected, slice, {}, [](auto& r) { return r.first; });
    return static_cast<unsigned>(beyond - expected.begin() - 1);
  };
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t slice = any_slice();
    const unsigned place = range_of(slice);
    if (random.below(2) && !n.is_full() && expected[place].first < slice) {
      node* const next = borders[random.below(borders.size())].get();
      if (std::ranges::count(expected, next, [](auto& r) { return r.second; }) > 0) continue;
      n.insert(place, slice, next);
      expected.insert(expected.begin() + place + 1, {slice, next});
    } else if (expected.size() > 1) {
      n.remove(place);
      if (place == 0) expected[1].first = 0;
      expected.erase(expected.begin() + place);
    }
    const std::uint64_t sought = any_slice();
    ASSERT_EQ(n.child_of(sought), expected[range_of(sought)].second) << sought;
    ASSERT_EQ(n.count.load_acquire() + 1, expected.size());
    ASSERT_EQ(n.place_of(expected.back().second), expected.size() - 1);
  }
}

// --- the tree ----------------------------------------------------------------------------------

/// Plain pointers, and a count of the nodes that live and of the bytes ever asked for, leaves
/// included.
struct counted : unmanaged {
  static inline std::atomic<std::int64_t> nodes{0}, bytes{0};
  void* allocate_node(std::size_t size, const node_place& place) const noexcept {
    ++nodes;
    bytes += static_cast<std::int64_t>(size);
    return unmanaged::allocate_node(size, place);
  }
  static void deallocate_node(void* node) noexcept {
    --nodes;
    unmanaged::deallocate_node(node);
  }
};
using counted_tree = masstree<counted>;

void reclaim_all() {
  for (int i = 0; i < 8 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
}

std::vector<std::string> keys_of(counted_tree& tree, bool is_backwards) {
  std::vector<std::string> seen;
  access inside;
  const auto note = [&](std::string_view key, std::string_view) {
    seen.emplace_back(key);
    return true;
  };
  if (is_backwards) {
    tree.scan_back(inside, std::nullopt, note);
    std::ranges::reverse(seen);
  } else {
    tree.scan(inside, "", note);
  }
  return seen;
}

void expect_holds(counted_tree& tree, const std::set<std::string>& keys) {
  EXPECT_TRUE(tree.is_valid());
  const std::vector<std::string> in_order(keys.begin(), keys.end());
  EXPECT_EQ(keys_of(tree, false), in_order);
  EXPECT_EQ(keys_of(tree, true), in_order);
}

/// Inserts all keys, then erases them in another order, and looks at what is left of the nodes.
void fill_and_empty(std::vector<std::string> keys, base::random& random) {
  const std::int64_t before = counted::nodes;
  {
    counted_tree tree(0);
    std::set<std::string> present;
    const std::size_t pause = keys.size() / 20 + 1;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(insert(tree, keys[i], "v"), outcome::done);
      present.insert(keys[i]);
      if (i % pause == 0) expect_holds(tree, present);
    }
    if (const auto order = random.below(3); order == 0) {
      std::ranges::sort(keys);
    } else if (order == 1) {
      std::ranges::sort(keys, std::greater());
    } else {
      std::ranges::shuffle(keys, random);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_TRUE(erase_from(tree, keys[i]));
      present.erase(keys[i]);
      if (i % pause == 0) expect_holds(tree, present);
    }
    expect_holds(tree, {});
    reclaim_all();
    // The first node on each level of the first layer is left.
    EXPECT_LE(counted::nodes - before, 8);
  }
  reclaim_all();
  EXPECT_EQ(counted::nodes, before);
}

TEST(MasstreeTree, ZerosOfEveryLength) {
  base::random random(test_seed());
  std::vector<std::string> keys;
  for (std::size_t length = 0; length <= 24; ++length) keys.emplace_back(length, '\0');
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(keys, random);
    fill_and_empty(keys, random);
  }
}

// Ten entries share each slice (lengths 0 to 8 and a layer), so splits must part between them; few
// slices, so that nodes are full of them.
TEST(MasstreeTree, SplitsKeepASliceTogether) {
  base::random random(test_seed());
  for (int round = 0; round < 30; ++round) {
    std::set<std::string> keys;
    for (char slice = 'a'; slice < 'g'; ++slice) {
      for (std::size_t length = 0; length <= 8; ++length) {
        keys.insert("layer-1-" + std::string(length, slice));
        keys.insert("layer-1-" + std::string(8, slice) + std::string(length, '\0'));
      }
    }
    std::vector<std::string> shuffled(keys.begin(), keys.end());
    std::ranges::shuffle(shuffled, random);
    fill_and_empty(std::move(shuffled), random);
  }
}

TEST(MasstreeTree, LongSharedPrefixes) {
  base::random random(test_seed());
  for (int round = 0; round < 20; ++round) {
    std::set<std::string> keys;
    const std::string shared(100 + random.below(200), 'p');
    for (int i = 0; i < 300; ++i) {
      std::string key = shared.substr(0, shared.size() - random.below(3) * random.below(60));
      for (auto left = random.below(12); left > 0; --left) key += "\0pz"[random.below(3)];
      keys.insert(key);
    }
    std::vector<std::string> shuffled(keys.begin(), keys.end());
    std::ranges::shuffle(shuffled, random);
    fill_and_empty(std::move(shuffled), random);
  }
}

TEST(MasstreeTree, ManyLevelsAndEveryOrderOfInsertion) {
  base::random random(test_seed());
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const std::uint64_t slice = std::byteswap(i * 3);
    keys.emplace_back(reinterpret_cast<const char*>(&slice), 8);
  }
  fill_and_empty(keys, random);  // ascending
  std::ranges::reverse(keys);
  fill_and_empty(keys, random);
  std::ranges::shuffle(keys, random);
  fill_and_empty(keys, random);
}

TEST(MasstreeTree, KeysInOrderFillTheirNodes) {
  const std::int64_t before = counted::nodes;
  constexpr std::uint64_t kKeys = 15000;
  counted_tree tree(0);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const std::uint64_t slice = std::byteswap(i);
    insert(tree, {reinterpret_cast<const char*>(&slice), 8}, "");
  }
  // A leaf for each key, and a fifteenth as many border nodes.
  EXPECT_LT(counted::nodes - before, static_cast<std::int64_t>(kKeys + kKeys / 15 + kKeys / 150));
}

TEST(MasstreeTree, SmallLayersHaveSmallNodes) {
  const std::int64_t before = counted::bytes;
  constexpr std::int64_t kLayers = 1000;
  counted_tree tree(0);
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string shared = std::to_string(10000000 + i);
    insert(tree, shared + "a1", "");
    insert(tree, shared + "b2", "");
  }
  const std::int64_t leaves = 2 * kLayers * 2 * static_cast<std::int64_t>(sizeof(void*));
  const std::int64_t first_layer = kLayers / 15 * 320 * 12 / 10;
  EXPECT_LT(counted::bytes - before, leaves + first_layer + kLayers * 128);
}

TEST(MasstreeTree, ClearLeavesNothingBehind) {
  base::random random(test_seed());
  const std::int64_t before = counted::nodes;
  counted_tree tree(0);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5000; ++i) {
      std::string key(random.below(30), 'k');
      for (char& c : key) c = "kx\0"[random.below(3)];
      upsert(tree, key, "v");
    }
    EXPECT_GT(tree.size(), 1000u);
    tree.clear();
    expect_holds(tree, {});
    reclaim_all();
    EXPECT_LE(counted::nodes - before, 8);
  }
}

TEST(MasstreeTree, ScansBeginAtAnyKeyOfAnyLayer) {
  base::random random(test_seed());
  counted_tree tree(0);
  std::set<std::string> keys;
  const auto any_key = [&] {
    std::string key(random.below(25), 'k');
    for (char& c : key) c = random.below(6) ? 'k' : "\0z"[random.below(2)];
    return key;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string key = any_key();
    upsert(tree, key, "v");
    keys.insert(key);
  }
  access inside;
  for (int i = 0; i < 3000; ++i) {
    const std::string from = any_key();
    std::vector<std::string> up, down, wanted_up, wanted_down;
    tree.scan(inside, from, [&](std::string_view key, std::string_view) {
      up.emplace_back(key);
      return up.size() < 3;
    });
    tree.scan_back(inside, from, [&](std::string_view key, std::string_view) {
      down.emplace_back(key);
      return down.size() < 3;
    });
    for (auto it = keys.lower_bound(from); it != keys.end() && wanted_up.size() < 3; ++it) {
      wanted_up.push_back(*it);
    }
    for (auto it = keys.upper_bound(from); it != keys.begin() && wanted_down.size() < 3;) {
      wanted_down.push_back(*--it);
    }
    ASSERT_EQ(up, wanted_up) << testing::PrintToString(from);
    ASSERT_EQ(down, wanted_down) << testing::PrintToString(from);
  }
}

}  // namespace
}  // namespace isotherm::index
