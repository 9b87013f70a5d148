// cold_extents over a table alone; among objects it is tested in
// pinned_extents_test.cpp and file_test.cpp.
#include "heap/packed/cold_extents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "heap/packed/table_over_memory.hpp"

namespace isotherm::heap {
namespace {

constexpr std::size_t kExtents = 70;

class ColdExtents : public testing::Test {
 protected:
  explicit ColdExtents(std::unique_ptr<backing> pages =
                           std::make_unique<testing_help::disk_of_memory>(kExtents *
                                                                          kExtentBytes)) {
    testing_help::open(table_, kExtents, std::move(pages));
    EXPECT_TRUE(cold_.open());
  }
  /// Takes an extent, and opens it.
  std::size_t open_extent() {
    const std::size_t index = testing_help::take(table_, 1);
    table_.row(index).run.store_relaxed(0);
    cold_.forget_objects(index);
    table_.row(index).word.store_release(0);
    return index;
  }
  void empty_and_give_back(std::size_t first) {
    testing_help::empty(table_, first);
    cold_.give_back(first);
  }
  /// Returns where an object lies whose units begin with that one.
  const std::byte* object_at(std::size_t index, std::size_t unit) const {
    return table_.address_of(index) + 2 * kHeaderBytes + unit * kUnitBytes;
  }

  extent_table table_;
  cold_extents cold_{table_};
};

TEST_F(ColdExtents, KnowTheRoomOfAnObjectByItsEnd) {
  const std::size_t index = open_extent();
  cold_.mark_end(index, 2);
  cold_.mark_end(index, 99);
  EXPECT_EQ(cold_.room_of(object_at(index, 0)), 3 * kUnitBytes - kHeaderBytes);
  EXPECT_EQ(cold_.room_of(object_at(index, 3)), 97 * kUnitBytes - kHeaderBytes);
  cold_.forget_objects(index);
  cold_.mark_end(index, 50);
  EXPECT_EQ(cold_.room_of(object_at(index, 0)), 51 * kUnitBytes - kHeaderBytes);
}

TEST_F(ColdExtents, KnowTheRoomOfARunByItsRow) {
  const std::size_t first = testing_help::take(table_, 2);
  table_.row(first).run_bytes.store_relaxed(1'234'567);
  EXPECT_EQ(cold_.room_of(object_at(first, 0)), 1'234'567u);
  EXPECT_EQ(cold_.place_of(object_at(first, 0)).bytes,
            (1'234'567 + base::kPageBytes) / base::kPageBytes * base::kPageBytes);
}

TEST_F(ColdExtents, AreOutAsAWholeOnceTheyAreWritten) {
  const std::size_t index = open_extent();
  cold_.mark_end(index, 9);
  cold_.mark_end(index, 1000);
  table_.row(index).word.store_release(extent_word::kClosed | 2U);
  EXPECT_FALSE(cold_.is_out(object_at(index, 0)));
  cold_.note_use(object_at(index, 0));  // of a mapped COLD
  ASSERT_TRUE(cold_.pin_closed(index));
  cold_.note_written(index);
  EXPECT_TRUE(cold_.is_out(object_at(index, 0)));
  EXPECT_TRUE(cold_.is_out(object_at(index, 10)));
  cold_.note_use(object_at(index, 0));
  EXPECT_TRUE(cold_.is_out(object_at(index, 0))) << "no use brings it back";
  cold_.unpin(index);
}

TEST_F(ColdExtents, AreInMemoryFromWhenTheyAreTakenUntilTheyAreWrittenOrGivenBack) {
  const std::size_t first = open_extent(), second = open_extent();
  const std::size_t run = testing_help::take(table_, 3);
  cold_.note_taken(second, 1);
  cold_.note_taken(run, 3);
  cold_.note_taken(first, 1);
  EXPECT_EQ(cold_.in_memory(), (std::vector<std::size_t>{first, second, run}));
  EXPECT_EQ(cold_.memory_bytes(), 5 * kExtentBytes);
  for (const std::size_t each : {first, run}) cold_.note_written(each);
  EXPECT_EQ(cold_.in_memory(), std::vector<std::size_t>{second});
  EXPECT_EQ(cold_.memory_bytes(), kExtentBytes);
  for (const std::size_t each : {first, second, run}) empty_and_give_back(each);
  EXPECT_THAT(cold_.in_memory(), testing::IsEmpty());
  EXPECT_EQ(cold_.memory_bytes(), 0u) << "each was counted once";
}

TEST_F(ColdExtents, ThatWereEmptiedAreNotInMemoryThoughTheyAreLeft) {
  cold_.treat_emptied(emptied::left);
  const std::size_t index = open_extent();
  cold_.note_taken(index, 1);
  empty_and_give_back(index);
  EXPECT_TRUE(table_.is_taken(index));
  EXPECT_THAT(cold_.in_memory(), testing::IsEmpty());
  EXPECT_EQ(cold_.memory_bytes(), 0u);
}

// Another thread may take them at once: what it notes then is not to be undone.
TEST(ColdExtentsOnADisk, AreNotInMemoryAnyMoreWhenTheyAreGivenBack) {
  auto disk = std::make_unique<testing_help::disk_of_memory>(kExtents * kExtentBytes);
  testing_help::disk_of_memory& pages = *disk;
  extent_table table;
  testing_help::open(table, kExtents, std::move(disk));
  cold_extents cold(table);
  ASSERT_TRUE(cold.open());
  const std::size_t run = testing_help::take(table, 3);
  cold.note_taken(run, 3);
  std::uint64_t bytes_then = kExtentBytes;
  pages.when_given_back = [&] { bytes_then = cold.memory_bytes(); };
  testing_help::empty(table, run);
  cold.give_back(run);
  EXPECT_EQ(bytes_then, 0u);
}

TEST_F(ColdExtents, ArePinnedToBeWrittenWhenTheyAreClosedAndHoldObjects) {
  const std::size_t index = open_extent();
  base::atomic<std::uint64_t>& word = table_.row(index).word;
  word.store_release(1U << 16U | 1U);
  EXPECT_FALSE(cold_.pin_closed(index)) << "it takes objects";
  word.store_release(extent_word::kClosed | 1U << 16U);
  EXPECT_FALSE(cold_.pin_closed(index)) << "another thread is about to give it back";
  EXPECT_EQ(table_.row(index).load().readers(), 0u);
  word.store_release(extent_word::kClosed | 1U << 16U | 1U);
  ASSERT_TRUE(cold_.pin_closed(index));
  EXPECT_EQ(table_.row(index).load().readers(), 1u);
  word.fetch_sub_acq_rel(1);
  EXPECT_TRUE(table_.is_taken(index));
  cold_.unpin(index);
  EXPECT_FALSE(table_.is_taken(index)) << "its last object was freed meanwhile";
}

TEST_F(ColdExtents, AreGivenBackByTheLastReader) {
  const std::size_t index = open_extent();
  table_.row(index).word.store_release(extent_word::kClosed | 1U);
  cold_.pin_extent(object_at(index, 0));
  table_.row(index).word.fetch_sub_acq_rel(1);
  EXPECT_TRUE(table_.is_taken(index));
  cold_.unpin_extent(object_at(index, 0));
  EXPECT_FALSE(table_.is_taken(index));
}

TEST_F(ColdExtents, EmptiedOnesAreGivenBackAtOnceByDefault) {
  const std::size_t index = open_extent();
  empty_and_give_back(index);
  EXPECT_FALSE(table_.is_taken(index));
  EXPECT_EQ(cold_.give_back_emptied(), 0u);
}

TEST_F(ColdExtents, EmptiedOnesStayTakenUntilSomebodyGivesThemBack) {
  cold_.treat_emptied(emptied::left);
  for (std::size_t i = 0; i < 10; ++i) open_extent();
  const std::size_t run = testing_help::take(table_, 3);
  for (const std::size_t index : {std::size_t{7}, std::size_t{2}, run}) empty_and_give_back(index);
  EXPECT_EQ(table_.held_bytes(), 13 * kExtentBytes);
  EXPECT_TRUE(cold_.is_left(2) && cold_.is_left(7) && cold_.is_left(run + 2));
  EXPECT_FALSE(cold_.is_left(3));
  EXPECT_EQ(testing_help::take(table_, 1), 13u) << "none of them";
  EXPECT_EQ(cold_.give_back_emptied(), 5 * kExtentBytes);
  EXPECT_EQ(cold_.give_back_emptied(), 0u);
  EXPECT_FALSE(cold_.is_left(2));
  EXPECT_EQ(testing_help::take(table_, 1), 2u);
  EXPECT_TRUE(table_.is_valid());
}

TEST_F(ColdExtents, AreGivenBackWhenThatIsToBeDoneAtOnceAgain) {
  cold_.treat_emptied(emptied::left);
  const std::size_t index = open_extent();
  empty_and_give_back(index);
  EXPECT_TRUE(table_.is_taken(index));
  cold_.treat_emptied(emptied::given_back);
  EXPECT_FALSE(table_.is_taken(index));
}

class ColdExtentsInMemory : public ColdExtents {
 protected:
  ColdExtentsInMemory() : ColdExtents(make_anonymous_backing()) {}
};

TEST_F(ColdExtentsInMemory, AUseBringsThePagesOfItsObjectIn) {
  const std::size_t index = open_extent();
  cold_.mark_end(index, 9);
  cold_.mark_end(index, 1000);
  const auto *const one = object_at(index, 0), *const other = object_at(index, 10);
  cold_.mark_out(index, 1);
  table_.row(index).hinted.store_relaxed(true);
  EXPECT_TRUE(cold_.is_out(one));
  cold_.note_use(one);
  EXPECT_FALSE(cold_.is_out(one));
  EXPECT_TRUE(cold_.is_out(other)) << "it reaches into other pages";
  EXPECT_FALSE(table_.row(index).hinted.load_relaxed());
  cold_.mark_in({index * kExtentBytes, kExtentBytes});
  EXPECT_FALSE(cold_.is_out(other));
}

TEST_F(ColdExtentsInMemory, EmptiedOnesAreGivenBackAtOnceWhateverWasAsked) {
  cold_.treat_emptied(emptied::left);
  const std::size_t index = open_extent();
  empty_and_give_back(index);
  EXPECT_FALSE(table_.is_taken(index));
}

}  // namespace
}  // namespace isotherm::heap
