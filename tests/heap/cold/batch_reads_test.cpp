// Objects of COLD that are read together, for the collector. COLD is a file here.
#include "heap/cold/batch_reads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "heap/cold/objects_out.hpp"
#include "heap/cold/refusing_aligned_alloc.hpp"
#include "heap/packed/extent.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"

namespace isotherm::heap {
namespace {

using testing_help::objects_out;

class BatchReads : public testing_help::with_readers<testing::Test> {
 protected:
  ~BatchReads() override { testing_help::refuses_pages = false; }

  void add_all(const objects_out& objects) {
    for (std::size_t i = objects.size(); i-- > 0;) batch_.add(objects[i]);  // in no order
  }
  /// Runs, and returns how often the disk was asked. The reads from `first_failing` on fail, until
  /// `first_good`.
  std::size_t run_counted(std::size_t first_failing = ~std::size_t{0},
                          std::size_t first_good = ~std::size_t{0}) {
    std::atomic<std::size_t> reads{0};
    os::set_fault_hook([&](os::io_call call) {
      if (call != os::io_call::read) return 0;
      const std::size_t number = reads++;
      return number >= first_failing && number < first_good ? EIO : 0;
    });
    batch_.run();
    os::set_fault_hook({});
    return reads;
  }
  static bool finds(const batch_reads& batch, const objects_out& objects, std::size_t i) {
    const void* const found = batch.find(objects[i]);
    return found != objects[i] && objects.is_copy(found, i);
  }
  bool finds(const objects_out& objects, std::size_t i) const { return finds(batch_, objects, i); }
  /// Reads objects of which about half lie beyond the file's end.
  static void fail_beyond_the_end(bool has_queue) {
    const objects_out objects(1000, 5000);
    batch_reads batch;
    std::vector<const void*> by_place;
    by_place.reserve(objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i) by_place.push_back(objects[i]);
    std::ranges::sort(by_place);
    const std::string& path = testing_help::cold_in_a_file();
    const std::uint64_t end = heaps().cold().place_of(by_place[500]).offset;
    ASSERT_TRUE(testing_help::truncate_cold(path, end));
    for (std::size_t i = 0; i < objects.size(); i += 4) batch.add(objects[i]);
    if (!has_queue) {
      os::set_fault_hook([](os::io_call call) { return call == os::io_call::open ? EMFILE : 0; });
    }
    batch.run();
    os::set_fault_hook({});
    ASSERT_TRUE(testing_help::truncate_cold(path, testing_help::kColdRangeBytes));
    for (std::size_t i = 0; i < objects.size(); i += 4) {
      const base::page_span where = heaps().cold().place_of(objects[i]);
      ASSERT_EQ(finds(batch, objects, i), where.offset + where.bytes <= end) << i;
    }
  }

  std::size_t count_found(const objects_out& objects) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (batch_.find(objects[i]) == nullptr) continue;
      EXPECT_TRUE(finds(objects, i)) << i;
      ++found;
    }
    return found;
  }

  batch_reads batch_;
};

TEST_F(BatchReads, GivesWhatWasAdded) {
  for (const std::size_t bytes : {1UL, 30UL, 1000UL, 2500UL, 10'000UL, 300'000UL}) {
    const objects_out objects(std::clamp<std::size_t>(6'000'000 / bytes, 3, 3000), bytes);
    add_all(objects);
    batch_.run();
    EXPECT_EQ(count_found(objects), objects.size()) << bytes;
    batch_.clear();
  }
}

TEST_F(BatchReads, ReadsALargeObjectAtOnce) {
  const objects_out large(2, 5'000'000), small(3, 700);
  add_all(large);
  add_all(small);
  EXPECT_LE(run_counted(), 4u);
  EXPECT_EQ(count_found(large), 2u);
  EXPECT_EQ(count_found(small), 3u);
}

TEST_F(BatchReads, ReadsPagesSideBySideAtOnce) {
  const objects_out objects(400, 1000);
  const std::size_t first = heaps().packed(kind::cold).extents().index_of(objects[100]);
  std::size_t added = 0;
  for (std::size_t i = 100; i < 300; ++i) {
    if (heaps().packed(kind::cold).extents().index_of(objects[i]) != first) break;
    batch_.add(objects[i]);
    ++added;
  }
  ASSERT_GT(added, 8u);
  EXPECT_EQ(run_counted(), 1u);
  for (std::size_t i = 100; i < 100 + added; ++i) ASSERT_TRUE(finds(objects, i)) << i;
  EXPECT_LT(count_found(objects), added + 8) << "their neighbours on the same pages";
}

TEST_F(BatchReads, ReadsPagesThatLieApartAlone) {
  const objects_out objects(1000, 5000);
  std::size_t added = 0;
  for (std::size_t i = 0; i < objects.size(); i += 4, ++added) batch_.add(objects[i]);
  const std::size_t reads = run_counted();
  EXPECT_LE(reads, added);
  EXPECT_GE(reads, added - 8) << "the end of an extent may be beside the begin of another";
  for (std::size_t i = 0; i < objects.size(); i += 4) {
    ASSERT_TRUE(finds(objects, i));
    if (i + 2 < objects.size()) ASSERT_EQ(batch_.find(objects[i + 2]), nullptr) << "was not added";
  }
}

// Each object shares a page with the next, and together they are more than is read at once.
TEST_F(BatchReads, GivesObjectsWhosePagesOverlap) {
  const objects_out objects(2000, 5000);
  add_all(objects);
  const std::size_t reads = run_counted();
  EXPECT_GE(reads, 9u) << "no read is as large as all of them";
  EXPECT_LE(reads, 30u);
  EXPECT_EQ(count_found(objects), objects.size());
}

TEST_F(BatchReads, GivesALargerObjectWhosePagesBeginWithThoseOfASmaller) {
  std::vector<void*> all;
  all.reserve(400);
  for (int i = 0; i < 400; ++i) {
    all.push_back(allocate(kind::cold, i % 2 == 0 ? 700 : 9000));
    std::memset(all.back(), i % 255, room_of(all.back()));
  }
  testing_help::close_cold_extents();
  testing_help::page_out_all();
  const auto place_of = [](const void* each) { return heaps().cold().place_of(each); };
  std::size_t pairs = 0;
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    if (place_of(all[i]).offset != place_of(all[i + 1]).offset) continue;
    ++pairs;
    for (const std::size_t first : {i, i + 1}) {
      batch_.add(all[first]);
      batch_.add(all[2 * i + 1 - first]);
      EXPECT_EQ(run_counted(), 1u);
      for (const std::size_t k : {i, i + 1}) {
        const auto* const copy = static_cast<const unsigned char*>(batch_.find(all[k]));
        ASSERT_NE(copy, nullptr);
        EXPECT_EQ(copy[room_of(all[k]) - 1], k % 255);
      }
      batch_.clear();
    }
  }
  EXPECT_GT(pairs, 10u);
  for (void* each : all) deallocate(each);
}

TEST_F(BatchReads, AnObjectThatIsAddedTwiceIsReadOnce) {
  for (const std::size_t bytes : {5000UL, 3'000'000UL}) {
    const objects_out objects(1, bytes);
    for (int i = 0; i < 3; ++i) batch_.add(objects[0]);
    EXPECT_EQ(run_counted(), 1u);
    EXPECT_TRUE(finds(objects, 0));
    batch_.clear();
  }
}

TEST_F(BatchReads, LeavesOutWhatIsInMemory) {
  testing_help::close_cold_extents();
  void* const object = allocate(kind::cold, 4000);
  batch_.add(object);
  EXPECT_EQ(run_counted(), 0u);
  EXPECT_EQ(batch_.find(object), object);
  batch_.clear();
  EXPECT_EQ(batch_.find(object), object);
  batch_.add(object);
  testing_help::close_cold_extents();
  testing_help::page_out_all();
  batch_.run();
  EXPECT_EQ(batch_.find(object), nullptr) << "it has left since it was added";
  deallocate(object);
}

TEST_F(BatchReads, WhatIsNotAddedIsNotFound) {
  const objects_out objects(1000, 5000);
  EXPECT_EQ(count_found(objects), 0u);
  batch_.run();
  EXPECT_EQ(count_found(objects), 0u);
  batch_.add(objects[500]);
  EXPECT_EQ(count_found(objects), 0u) << "it is not read yet";
}

TEST_F(BatchReads, PagesThatCannotBeReadTogetherAreReadObjectByObject) {
  const objects_out objects(1000, 5000);
  add_all(objects);
  constexpr std::size_t kFewerThanParts = 4;
  EXPECT_GT(run_counted(0, kFewerThanParts), objects.size() / 2);
  EXPECT_EQ(count_found(objects), objects.size());
}

TEST_F(BatchReads, AReadThatFailsFailsItsObjectsAlone) {
  const objects_out objects(1000, 5000);
  std::size_t added = 0;
  for (std::size_t i = 0; i < objects.size(); i += 4, ++added) batch_.add(objects[i]);
  // Each object is read alone, and once more when that fails: a few second reads fail, too.
  const std::size_t reads = run_counted(0, added + 2);
  EXPECT_GE(reads, added);
  const std::size_t found = count_found(objects);
  EXPECT_LT(found, added);
  EXPECT_GE(found, added - 8);
}

TEST_F(BatchReads, AFileThatEndsFailsWhatLiesBeyondAlone) {
  for (const bool has_queue : {true, false}) fail_beyond_the_end(has_queue);
}

// The disk failed to keep the pages, and gives zeros.
TEST_F(BatchReads, PagesWithoutALiveObjectHoldNone) {
  const objects_out objects(10, 5000);
  const std::string& path = testing_help::cold_in_a_file();
  ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  ASSERT_TRUE(testing_help::truncate_cold(path, testing_help::kColdRangeBytes));
  add_all(objects);
  batch_.run();
  EXPECT_EQ(count_found(objects), 0u);
}

TEST_F(BatchReads, ReadsOneByOneWhereThereIsNoQueue) {
  const objects_out objects(400, 5000);
  for (std::size_t i = 0; i < objects.size(); i += 4) batch_.add(objects[i]);
  std::atomic<std::size_t> reads{0};
  os::set_fault_hook([&reads](os::io_call call) {
    if (call == os::io_call::open) return EMFILE;  // a queue opens the file once more
    if (call != os::io_call::read) return 0;
    return reads++ == 7 ? EIO : 0;
  });
  batch_.run();
  os::set_fault_hook({});
  EXPECT_GE(reads, 93u);
  std::size_t found = 0;
  for (std::size_t i = 0; i < objects.size(); i += 4) found += finds(objects, i) ? 1 : 0;
  EXPECT_EQ(found, 100u) << "the one that failed was asked for again";
  batch_.clear();
  // The memory of a read that fails may hold an earlier copy.
  for (std::size_t i = 0; i < objects.size(); i += 4) batch_.add(objects[i]);
  os::set_fault_hook([](os::io_call call) {
    return call == os::io_call::open ? EMFILE : call == os::io_call::read ? EIO : 0;
  });
  batch_.run();
  os::set_fault_hook({});
  EXPECT_EQ(count_found(objects), 0u);
  batch_.clear();
  add_all(objects);
  batch_.run();
  EXPECT_EQ(count_found(objects), objects.size()) << "a queue is opened once that can be";
}

TEST_F(BatchReads, WithoutMemoryNothingIsReadAndTheNextBatchIs) {
  const objects_out objects(100, 5000);
  add_all(objects);
  testing_help::refuses_pages = true;
  EXPECT_EQ(run_counted(), 0u);
  testing_help::refuses_pages = false;
  EXPECT_EQ(count_found(objects), 0u);
  batch_.clear();
  add_all(objects);
  batch_.run();
  EXPECT_EQ(count_found(objects), objects.size());
}

TEST_F(BatchReads, KeepsExtentsUntilItIsCleared) {
  const auto held = [] { return usage_of(kind::cold, residency::left_out).extent_bytes; };
  std::uint64_t full = 0;
  const void* object = nullptr;
  {
    const objects_out objects(1, kExtentBytes / 2 * 3);  // extents of its own
    object = objects[0];
    batch_.add(object);
    batch_.run();
    full = held();
  }
  EXPECT_EQ(held(), full) << "it was freed";
  void* const other = allocate(kind::cold, kExtentBytes / 2 * 3);
  EXPECT_NE(other, object);
  deallocate(other);
  batch_.clear();
  EXPECT_EQ(held(), full - 2 * kExtentBytes);
}

TEST_F(BatchReads, ForgetsWhatItHasRead) {
  const objects_out objects(10, 5000);
  add_all(objects);
  batch_.run();
  batch_.clear();
  EXPECT_EQ(count_found(objects), 0u);
  EXPECT_EQ(run_counted(), 0u);
}

}  // namespace
}  // namespace isotherm::heap
