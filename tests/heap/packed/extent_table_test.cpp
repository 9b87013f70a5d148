// The table acquires the lowest extents that are free, as runs of neighbours, and with their pages.
#include "heap/packed/extent_table.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <random>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "heap/packed/table_over_memory.hpp"
#include "heap/poison.hpp"

namespace isotherm::heap {
namespace {

constexpr std::size_t kExtents = 200;  // more than three words of bits

class ExtentTable : public testing::Test {
 protected:
  ExtentTable() { testing_help::open(table_, kExtents, make_anonymous_backing()); }
  void give_back(std::size_t first) {
    testing_help::empty(table_, first);
    table_.give_back(table_.dissolve(first));
  }
  std::size_t held() const { return table_.held_bytes() / kExtentBytes; }

  extent_table table_;
};

TEST_F(ExtentTable, TakesTheLowestFreeNeighbours) {
  EXPECT_EQ(table_.used(), 0u);
  EXPECT_EQ(table_.acquire(1), 0u);
  EXPECT_EQ(table_.acquire(3), 1u);
  EXPECT_EQ(table_.acquire(1), 4u);
  EXPECT_EQ(table_.acquire(1), 5u);
  give_back(1);
  give_back(5);
  EXPECT_EQ(table_.acquire(4), 5u)
      << "the hole is too small, and the last one goes on to the free end";
  EXPECT_EQ(table_.acquire(2), 1u);
  EXPECT_EQ(table_.acquire(1), 3u);
  EXPECT_EQ(held(), 9u);
  EXPECT_EQ(table_.used(), 9u);
  EXPECT_TRUE(table_.is_valid());
}

TEST_F(ExtentTable, ARunThatWasTakenHasOneLivingObjectAndMemory) {
  const std::size_t first = testing_help::take(table_, 3);
  EXPECT_EQ(table_.row(first).run.load_relaxed(), 3u);
  EXPECT_EQ(table_.row(first).load().live(), 1u);
  for (std::size_t i = first + 1; i < first + 3; ++i) {
    EXPECT_TRUE(table_.row(i).load().empty_for_good());
  }
  unpoison(table_.address_of(first), 3 * kExtentBytes);
  table_.address_of(first)[3 * kExtentBytes - 1] = std::byte{1};
  testing_help::empty(table_, first);
  const extent_run whole = table_.dissolve(first);
  EXPECT_EQ(whole.first, first);
  EXPECT_EQ(whole.count, 3u);
  EXPECT_EQ(table_.row(first).run.load_relaxed(), 0u);
  table_.give_back(whole);
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(table_.used(), 3u);
}

TEST_F(ExtentTable, ForgetsWhatWasKnownOfAnExtentThatIsTakenAnew) {
  const std::size_t first = testing_help::take(table_, 1);
  extent& row = table_.row(first);
  row.hinted.store_relaxed(true);
  row.written.store_relaxed(true);
  row.thinned.store_relaxed(extent::thinning::done);
  row.among.store_relaxed(0);
  give_back(first);
  ASSERT_EQ(table_.acquire(1), first);
  EXPECT_FALSE(row.hinted.load_relaxed());
  EXPECT_FALSE(row.written.load_relaxed());
  EXPECT_EQ(row.thinned.load_relaxed(), extent::thinning::none);
  EXPECT_EQ(row.among.load_relaxed(), kColdestBand);
}

TEST_F(ExtentTable, HasNoMoreThanItsRange) {
  EXPECT_EQ(table_.acquire(kExtents + 1), std::nullopt);
  EXPECT_EQ(table_.acquire(kExtents), 0u);
  EXPECT_EQ(table_.acquire(1), std::nullopt);
  EXPECT_EQ(table_.refusal_code(), 0) << "the backing refused nothing";
  EXPECT_TRUE(table_.is_valid());
  give_back(0);
  EXPECT_EQ(table_.acquire(1), 0u);
  EXPECT_EQ(table_.used_end(), reinterpret_cast<std::uintptr_t>(table_.address_of(kExtents)));
}

TEST_F(ExtentTable, RandomRunsDoNotOverlap) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  base::random random(seed);
  std::vector<extent_run> taken;
  std::vector<bool> is_taken(kExtents);
  for (int step = 0; step < 5'000; ++step) {
    const std::size_t count = 1 + random.below(random.below(4) == 0 ? 70 : 3);
    const auto first = random.below(3) == 0 ? std::nullopt : table_.acquire(count);
    if (first) {
      for (std::size_t i = *first; i < *first + count; ++i) {
        ASSERT_FALSE(is_taken[i]);
        is_taken[i] = true;
      }
      taken.push_back({*first, count});
    } else if (!taken.empty()) {
      std::swap(taken[random.below(taken.size())], taken.back());
      const extent_run gone = taken.back();
      for (std::size_t i = gone.first; i < gone.first + gone.count; ++i) is_taken[i] = false;
      give_back(gone.first);
      taken.pop_back();
    }
    ASSERT_TRUE(table_.is_valid());
  }
}

TEST_F(ExtentTable, ThreadsTakeAndGiveBackAtTheSameTime) {
  std::vector<std::jthread> threads;
  for (std::size_t count = 1; count <= 4; ++count) {
    threads.emplace_back([this, count] {
      for (int i = 0; i < 2'000; ++i) {
        const auto first = table_.acquire(count);
        ASSERT_TRUE(first);
        unpoison(table_.address_of(*first), 1);
        *table_.address_of(*first) = static_cast<std::byte>(count);
        give_back(*first);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(table_.is_valid());
}

TEST(ExtentTableOnAFullDisk, GivesBackWhatItGotAndSaysWhy) {
  extent_table table;
  auto disk = std::make_unique<testing_help::disk_of_memory>(2 * kExtentBytes);
  const auto* const pages = disk.get();
  testing_help::open(table, kExtents, std::move(disk));
  EXPECT_TRUE(table.is_logged());
  EXPECT_EQ(table.acquire(1), 0u);
  EXPECT_EQ(table.acquire(2), std::nullopt);
  EXPECT_EQ(table.refusal_code(), ENOSPC);
  EXPECT_EQ(pages->taken_bytes, kExtentBytes);
  EXPECT_EQ(table.held_bytes(), kExtentBytes);
  EXPECT_TRUE(table.is_valid());
  EXPECT_EQ(table.acquire(1), 1u);
}

TEST(ExtentTableOfAParent, IsLeftAloneByItsForkChild) {
  extent_table table;
  testing_help::open(table, kExtents,
                     std::make_unique<testing_help::disk_of_memory>(kExtents * kExtentBytes));
  const std::size_t first = testing_help::take(table, 1);
  table.freeze();
  testing_help::empty(table, first);
  table.give_back(table.dissolve(first));
  EXPECT_EQ(table.held_bytes(), kExtentBytes);
}

}  // namespace
}  // namespace isotherm::heap
