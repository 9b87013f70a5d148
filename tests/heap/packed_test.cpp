// Promises of the heaps of objects that NODE does not make: density, extents given back and reused,
// sparseness.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "heap/object.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::heap {
namespace {

class Packed : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(All, Packed, testing::Values(kind::newborn, kind::hot, kind::cold));

/// Objects that fill `extents` extents, each byte written.
std::vector<void*> fill_extents(kind where, std::size_t extents, std::size_t bytes) {
  std::vector<void*> objects;
  const std::size_t count = extents * kExtentUnits / units_of(bytes);
  for (std::size_t i = 0; i < count; ++i) {
    objects.push_back(allocate(where, bytes));
    std::memset(objects.back(), 1, bytes);
  }
  return objects;
}

void free_all(const std::vector<void*>& objects) {
  for (void* object : objects) deallocate(object);
}

// In a file an object of less than a page lies on one page, so that one read gives it.
TEST_P(Packed, ObjectsOf1028BytesFillTheirPagesTo97PercentOrThreeAPageInAFile) {
  const bool is_in_a_file = heaps().packed(GetParam()).extents().is_logged();
  const usage before = usage_of(GetParam());
  const packing packed_before = packing_of(GetParam());
  const auto objects = fill_extents(GetParam(), 16, 1028);
  const usage after = usage_of(GetParam());
  const packing packed_after = packing_of(GetParam());
  const auto object_bytes = static_cast<double>(objects.size() * 1028);
  EXPECT_GE(object_bytes / static_cast<double>(after.resident_bytes - before.resident_bytes),
            is_in_a_file ? 3 * 1028.0 / base::kPageBytes : 0.97);
  EXPECT_LE(packed_after.used_bytes - packed_before.used_bytes,
            packed_after.live_bytes - packed_before.live_bytes)
      << "the ends of pages are not dead bytes, which compaction would try to gain";
  free_all(objects);
}

TEST_P(Packed, EmptyExtentsGoBackAndAreReusedFromTheLowestAddress) {
  const auto objects = fill_extents(GetParam(), 32, 4000);
  const usage full = usage_of(GetParam());
  const std::uintptr_t end = used_end(GetParam());
  free_all(objects);
  trim();  // NEW and HOT keep some room for next objects until then
  const usage after = usage_of(GetParam());
  EXPECT_LE(after.extent_bytes + 30 * kExtentBytes, full.extent_bytes);
  EXPECT_LE(after.resident_bytes + 30 * kExtentBytes, full.resident_bytes);
  EXPECT_TRUE(is_valid());
  const auto again = fill_extents(GetParam(), 31, 4000);
  EXPECT_EQ(used_end(GetParam()), end);
  free_all(again);
}

TEST_P(Packed, ARunTakesNeighbouringExtentsAndGivesThemBack) {
  const usage before = usage_of(GetParam(), residency::left_out);
  const std::size_t bytes = 7 * kExtentBytes + 123;
  void* object = allocate(GetParam(), bytes);
  ASSERT_NE(object, nullptr);
  std::memset(object, 3, bytes);
  EXPECT_FALSE(is_sparse(object));
  EXPECT_EQ(usage_of(GetParam(), residency::left_out).extent_bytes - before.extent_bytes,
            8 * kExtentBytes);
  EXPECT_TRUE(is_valid());
  deallocate(object);
  EXPECT_EQ(usage_of(GetParam(), residency::left_out).extent_bytes, before.extent_bytes);
  void* second = allocate(GetParam(), bytes);
  EXPECT_EQ(second, object);
  deallocate(second);
}

TEST_P(Packed, AnExtentIsSparseOnceClosedAndMostlyFreed) {
  auto objects = fill_extents(GetParam(), 4, 1000);
  void* newest = objects.back();
  EXPECT_FALSE(is_sparse(newest, 1.0)) << "an open extent still fills";
  // Objects of one extent: those between two extent borders.
  std::vector<void*> mates;
  const auto extent_of = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) / kExtentBytes;
  };
  for (void* object : objects) {
    if (extent_of(object) == extent_of(objects[objects.size() / 2])) mates.push_back(object);
  }
  ASSERT_GT(mates.size(), 500U);
  EXPECT_FALSE(is_sparse(mates[0]));
  const packing before = packing_of(GetParam());
  const std::size_t freed = mates.size() / 2;
  for (std::size_t i = 0; i < freed; ++i) std::erase(objects, mates[i]);
  for (std::size_t i = 0; i < freed; ++i) deallocate(mates[i], recycling::none);
  EXPECT_TRUE(is_sparse(mates.back()));
  EXPECT_FALSE(is_sparse(mates.back(), 0.25));
  const packing after = packing_of(GetParam());
  EXPECT_EQ(after.used_bytes, before.used_bytes);
  EXPECT_EQ(before.live_bytes - after.live_bytes, freed * units_of(1000) * kUnitBytes);
  free_all(objects);
}

// An object that takes a place there, behind the pass over guides that empties the extent, would
// keep all of it.
TEST_P(Packed, NoPlaceIsFilledAnewInAnExtentThatIsBeingEmptied) {
  auto objects = fill_extents(GetParam(), 4, 1000);
  const auto extent_of = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) / kExtentBytes;
  };
  void* const first = objects[objects.size() / 2];
  const bool is_recycled = GetParam() != kind::cold;
  const auto replaced_where_it_was = [&] {
    void* const freed = objects[objects.size() / 2];
    deallocate(freed);
    objects[objects.size() / 2] = allocate(GetParam(), 1000);
    return extent_of(objects[objects.size() / 2]) == extent_of(first);
  };
  EXPECT_EQ(replaced_where_it_was(), is_recycled);
  const auto& extents = heaps().packed(GetParam()).extents();
  begin_emptying(GetParam(), extents.index_of(first));
  EXPECT_FALSE(replaced_where_it_was());
  free_all(objects);
}

TEST_P(Packed, TinyObjectsDoNotLookSparse) {
  const auto objects = fill_extents(GetParam(), 3, 9);
  EXPECT_FALSE(is_sparse(objects[objects.size() / 2]));
  free_all(objects);
}

TEST_P(Packed, RandomLifetimesKeepEveryInvariant) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  base::random random(seed);
  std::vector<std::pair<unsigned char*, std::size_t>> live;
  for (int step = 0; step < 60'000; ++step) {
    if (live.size() < 4000 || random.below(2) == 0) {
      const std::size_t shape = random.below(100);
      const std::size_t bytes = shape < 90   ? random.below(2'000)
                                : shape < 99 ? random.below(40'000)
                                             : random.below(3'000'000);
      auto* object = static_cast<unsigned char*>(allocate(GetParam(), bytes));
      ASSERT_NE(object, nullptr);
      if (bytes > 0) object[0] = object[bytes - 1] = static_cast<unsigned char>(bytes % 251);
      live.emplace_back(object, bytes);
    } else {
      auto& [object, bytes] = live[random.below(live.size())];
      ASSERT_EQ(object_size(object), bytes);
      if (bytes > 0) {
        ASSERT_EQ(object[0], bytes % 251);
        ASSERT_EQ(object[bytes - 1], bytes % 251);
      }
      deallocate(object);
      object = live.back().first;
      bytes = live.back().second;
      live.pop_back();
    }
    if (step % 5'000 == 0) {
      ASSERT_TRUE(is_valid());
    }
  }
  for (auto& [object, bytes] : live) deallocate(object);
  EXPECT_TRUE(is_valid());
}

class Holes : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(All, Holes, testing::Values(kind::newborn, kind::hot));

/// Fills the open extent, so that it is closed and dense, and returns an object in its middle.
void* object_in_dense_extent(kind where, std::vector<void*>& others, std::size_t bytes) {
  others = fill_extents(where, 2, bytes);
  void* const chosen = others[others.size() / 2];
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2));
  return chosen;
}

TEST_P(Holes, TheNextObjectOfASizeTakesTheLastFreedOnesRoom) {
  std::vector<void*> others;
  void* const freed = object_in_dense_extent(GetParam(), others, 1000);
  deallocate(freed);
  void* const other_size = allocate(GetParam(), 500);
  EXPECT_NE(other_size, freed);
  void* const same_size = allocate(GetParam(), 1000);
  EXPECT_EQ(same_size, freed);
  EXPECT_EQ(object_size(same_size), 1000u);
  deallocate(same_size);
  deallocate(other_size);
  trim();
  free_all(others);
  EXPECT_TRUE(is_valid());
}

TEST_P(Holes, TheCollectorNeitherFillsNorLeavesAny) {
  std::vector<void*> others;
  void* const freed = object_in_dense_extent(GetParam(), others, 1000);
  deallocate(freed);
  void* const moved = allocate(GetParam(), 1000, recycling::none);
  EXPECT_NE(moved, freed);
  EXPECT_EQ(allocate(GetParam(), 1000), freed);
  deallocate(freed, recycling::none);
  void* const next = allocate(GetParam(), 1000);
  EXPECT_NE(next, freed);
  deallocate(moved);
  deallocate(next);
  trim();
  free_all(others);
  EXPECT_TRUE(is_valid());
}

TEST_P(Holes, ASparseExtentIsLeftToDrain) {
  auto objects = fill_extents(GetParam(), 4, 1000);
  const std::size_t kept = objects.size() / 2;
  for (std::size_t i = kept; i < objects.size(); ++i) deallocate(objects[i], recycling::none);
  void* sparse = nullptr;
  for (std::size_t i = 0; i < kept && !sparse; ++i) {
    if (is_sparse(objects[i])) sparse = std::exchange(objects[i], nullptr);
  }
  ASSERT_NE(sparse, nullptr);
  deallocate(sparse);
  void* const next = allocate(GetParam(), 1000);
  EXPECT_NE(next, sparse);
  deallocate(next);
  trim();
  for (std::size_t i = 0; i < kept; ++i) {
    if (objects[i]) deallocate(objects[i]);
  }
  EXPECT_TRUE(is_valid());
}

TEST_P(Holes, AHoleIsNotFilledOnceItsExtentIsSparse) {
  auto objects = fill_extents(GetParam(), 4, 1000);
  void* const freed = std::exchange(objects[objects.size() / 2], nullptr);
  deallocate(freed);
  const auto extent_of = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) / kExtentBytes;
  };
  std::size_t mates = 0;
  void* last = nullptr;
  for (void*& object : objects) {
    if (object == nullptr || extent_of(object) != extent_of(freed)) continue;
    if (++mates <= 500) {
      deallocate(std::exchange(object, nullptr), recycling::none);
    } else {
      last = object;
    }
  }
  ASSERT_TRUE(is_sparse(last));
  void* const next = allocate(GetParam(), 1000);
  EXPECT_NE(next, freed);
  const std::uint64_t held = usage_of(GetParam(), residency::left_out).extent_bytes;
  for (void*& object : objects) {
    if (object == nullptr || extent_of(object) != extent_of(freed)) continue;
    deallocate(std::exchange(object, nullptr), recycling::none);
  }
  EXPECT_EQ(usage_of(GetParam(), residency::left_out).extent_bytes, held - kExtentBytes)
      << "the hole does not keep it";
  deallocate(next);
  std::erase(objects, nullptr);
  free_all(objects);
  trim();
}

TEST_P(Holes, WithABrakeWhoeverOpensAnExtentWaits) {
  const std::uint64_t before = slowed_allocations();
  auto objects = fill_extents(GetParam(), 4, 1000);
  EXPECT_EQ(slowed_allocations(), before) << "no brake, no waits";
  allow_growth(2 * kExtentBytes);
  const std::uint64_t held = usage_of(GetParam(), residency::left_out).extent_bytes;
  const auto slowed = fill_extents(GetParam(), 8, 1000);
  const auto opened = [&] {
    return (usage_of(GetParam(), residency::left_out).extent_bytes - held) / kExtentBytes;
  };
  EXPECT_GE(opened(), 7u);
  EXPECT_EQ(slowed_allocations() - before, opened() - 2) << "two were allowed";
  void* const big = allocate(GetParam(), 3 * kExtentBytes);
  EXPECT_EQ(slowed_allocations() - before, opened() - 5) << "one wait for all four";
  EXPECT_GT(slowed_allocation_us(), 0u);
  allow_growth(kUnlimitedGrowth);
  deallocate(big);
  free_all(slowed);
  free_all(objects);
  trim();
}

TEST(Brake, TheCollectorAndColdDoNotWait) {
  allow_growth(0);
  const std::uint64_t before = slowed_allocations();
  std::vector<void*> objects = fill_extents(kind::cold, 3, 1000);
  for (const kind target : {kind::newborn, kind::hot}) {
    for (int i = 0; i < 3000; ++i) objects.push_back(allocate(target, 1000, recycling::none));
    objects.push_back(allocate(target, 3 * kExtentBytes, recycling::none));
  }
  EXPECT_EQ(slowed_allocations(), before);
  allow_growth(kUnlimitedGrowth);
  free_all(objects);
  trim();
}

TEST_P(Holes, TrimGivesTheExtentsUnderThemBack) {
  const usage before = usage_of(GetParam(), residency::left_out);
  free_all(fill_extents(GetParam(), 8, 1000));
  trim();
  EXPECT_LE(usage_of(GetParam(), residency::left_out).extent_bytes,
            before.extent_bytes + kExtentBytes);
  EXPECT_TRUE(is_valid());
}

TEST(Sparsest, AreChosenUpToTheirLiveAndDeadBytes) {
  std::map<std::uintptr_t, std::vector<void*>> extents;
  for (void* object : fill_extents(kind::cold, 8, 1000)) {
    extents[reinterpret_cast<std::uintptr_t>(object) / kExtentBytes].push_back(object);
  }
  // A tenth of the second extent lives, two of the third, and so on; the last is open.
  std::vector<const void*> left;
  for (auto& [number, objects] : extents) {
    const std::size_t tenths = left.size();
    if (tenths >= 1 && tenths <= 6) {
      const std::size_t live = objects.size() * tenths / 10;
      free_all({objects.begin() + static_cast<std::ptrdiff_t>(live), objects.end()});
      objects.resize(live);
    }
    left.push_back(objects.front());
  }
  using groups = std::vector<std::vector<std::size_t>>;
  const auto chosen = [&](const emptying& which) {
    groups found;
    for (const sparse_extents& group : sparsest_of(kind::cold, which)) {
      found.emplace_back();
      for (std::size_t i = 0; i < left.size(); ++i) {
        if (group.contains(left[i])) found.back().push_back(i);
      }
    }
    return found;
  };
  EXPECT_EQ(chosen({.live_share = 0.35}), (groups{{1, 2, 3}}));
  EXPECT_EQ(chosen({.live_share = 0.5, .live_bytes = kExtentBytes * 4 / 10}), (groups{{1, 2}}));
  EXPECT_EQ(chosen({.live_share = 0.5, .live_bytes = kExtentBytes * 15 / 100}), (groups{{1}}));
  EXPECT_EQ(chosen({.live_share = 0.5, .live_bytes = kExtentBytes / 20}), groups{});
  EXPECT_EQ(chosen({.live_share = 0.5, .dead_bytes = kExtentBytes}), (groups{{1, 2}}));
  EXPECT_EQ(chosen({.live_share = 0.5, .dead_bytes = 0}), groups{});
  EXPECT_EQ(chosen({.live_share = 0.45, .together_bytes = kExtentBytes * 4 / 10}),
            (groups{{1, 2}, {3}, {4}}));
  EXPECT_EQ(chosen({.live_share = 0.45, .together_bytes = 1}), (groups{{1}, {2}, {3}, {4}}));
  const auto begin_of_third = reinterpret_cast<std::uintptr_t>(left[3]) / kExtentBytes;
  EXPECT_EQ(chosen({.live_share = 0.45, .end = begin_of_third * kExtentBytes}), (groups{{1, 2}}));
  for (const auto& [number, objects] : extents) free_all(objects);
}

TEST(Bands, ShareNoExtent) {
  std::vector<std::pair<void*, band>> objects;
  std::map<std::size_t, band> bands;  // of extents
  for (std::size_t i = 0; i < 8000; ++i) {
    const auto among = static_cast<band>(i % kBands);
    void* const object = allocate({kind::hot, among}, i % 3 == 0 ? 32 : 1000, recycling::none);
    objects.emplace_back(object, among);
    EXPECT_EQ(band_of(object), among);
    const auto [known, is_new] = bands.emplace(extent_of(kind::hot, object), among);
    ASSERT_EQ(known->second, among);
  }
  for (const auto& [object, among] : objects) deallocate(object, recycling::none);
  trim();
  // Their extents take others then.
  const auto others = fill_extents(kind::hot, 12, 1000);
  for (const void* object : others) ASSERT_EQ(band_of(object), kColdestBand);
  free_all(others);
  trim();
  EXPECT_TRUE(is_valid());
}

TEST(CutEvenly, MakesPartsOfTheSameSizeWhereverItsObjectsLie) {
  std::vector<void*> objects = fill_extents(kind::hot, 40, 1000);
  std::ranges::sort(objects);
  const auto middle = objects.begin() + static_cast<std::ptrdiff_t>(objects.size() / 2);
  free_all({objects.begin(), middle});
  trim();
  objects.erase(objects.begin(), middle);
  EXPECT_TRUE(cut_evenly(kind::hot, 1).empty());
  const std::vector<std::uintptr_t> ends = cut_evenly(kind::hot, 4);
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(ends));
  std::array<std::size_t, 4> in_part{};
  for (const void* object : objects) {
    const auto after = std::ranges::upper_bound(ends, reinterpret_cast<std::uintptr_t>(object));
    ++in_part[static_cast<std::size_t>(after - ends.begin())];
  }
  for (const std::size_t count : in_part) EXPECT_GT(count, objects.size() / 8);
  free_all(objects);
}

// In a file a page is a read; elsewhere room is DRAM.
TEST(GapBefore, AnObjectOfLessThanAPageLiesInOneWhereThatCostsAQuarterOfItAtMost) {
  for (const std::size_t units :
       {1UL, 30UL, 64UL, 70UL, 100UL, 130UL, 200UL, 255UL, 256UL, 900UL}) {
    std::size_t cursor = 0, gaps = 0, crossing = 0;
    for (; cursor + 2 * units <= kExtentUnits;) {
      const std::size_t gap = gap_before(cursor, units);
      EXPECT_LE(gap, 64u);
      // The first and the last byte of the object, whose header lies at 8.
      const std::size_t begin = (cursor + gap) * kUnitBytes + kHeaderBytes;
      const std::size_t end = begin + units * kUnitBytes;
      crossing += begin / base::kPageBytes != (end - 1) / base::kPageBytes;
      cursor += gap + units;
      gaps += gap;
    }
    if (units <= 70) EXPECT_EQ(crossing, 0u) << units;
    if (units > 256) EXPECT_EQ(gaps, 0u) << units;
    EXPECT_LE(gaps, cursor / 4) << units;
  }
}

}  // namespace
}  // namespace isotherm::heap
