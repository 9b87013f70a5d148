// Objects of COLD that have left DRAM and are read. COLD is a file here; a program
// of its own, since heaps are configured once.
#include "heap/cold/reader.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "heap/cold/objects_out.hpp"
#include "heap/cold/refusing_aligned_alloc.hpp"
#include "os/faults.hpp"

namespace isotherm::heap {
namespace {

using testing_help::cold_offset_of;
using testing_help::engine;
using testing_help::make_reader;
using testing_help::objects_out;
using testing_help::take;
using testing_help::tickets;

using reads = std::vector<std::shared_ptr<const cold_read>>;

reads read_all(cold_reader& reader, const objects_out& objects) {
  reads made;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    made.push_back(reader.read(miss(objects[i]), i));
  }
  reader.submit();
  EXPECT_EQ(take(reader, objects.size()), tickets(objects.size())) << "each is told once";
  return made;
}

class ColdReader : public testing_help::with_readers<testing::TestWithParam<engine>> {};
INSTANTIATE_TEST_SUITE_P(Engines, ColdReader,
                         testing::Values(engine::best, engine::polled, engine::threads),
                         [](const auto& info) {
                           return info.param == engine::best     ? "Best"
                                  : info.param == engine::polled ? "Polled"
                                                                 : "Threads";
                         });

TEST_P(ColdReader, GivesEveryObjectWithItsBytesAndLeavesItsPagesOut) {
  for (const std::size_t bytes : {30UL, 700UL, 2500UL, 10'000UL, 600'000UL, 3'000'000UL}) {
    const objects_out objects(std::max<std::size_t>(6'000'000 / bytes, 3) % 5000, bytes);
    const auto reader = make_reader(GetParam());
    const reads made = read_all(*reader, objects);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      ASSERT_TRUE(made[i]->has_ended());
      ASSERT_EQ(made[i]->error(), 0);
      ASSERT_TRUE(objects.is_copy(made[i]->copy_of(objects[i]), i)) << bytes << ": " << i;
      ASSERT_TRUE(is_out(objects[i]));
    }
  }
}

TEST_P(ColdReader, CountsWhatItReads) {
  const objects_out objects(100, 5000);
  const auto reader = make_reader(GetParam());
  const cold_read_statistics before = cold_reads();
  std::uint64_t pages = 0, bytes = 0;
  reads kept;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    miss wanted(objects[i]);
    EXPECT_GE(wanted.bytes(), 5000u);
    EXPECT_LT(wanted.bytes(), 5016u);
    bytes += wanted.bytes();
    const auto made = reader->read(std::move(wanted), i);
    EXPECT_FALSE(made->has_ended());
    // One that begins in the page where the last one ends shares nothing with it.
    pages += made->where().bytes;
    kept.push_back(made);
  }
  cold_read_statistics now = cold_reads();
  EXPECT_EQ(now.misses - before.misses, 100u);
  EXPECT_EQ(now.requested_bytes - before.requested_bytes, bytes);
  EXPECT_EQ(now.under_way + (now.shared_reads - before.shared_reads), 100u);
  EXPECT_EQ(now.reads, before.reads);
  reader->submit();
  take(*reader, objects.size());
  now = cold_reads();
  EXPECT_EQ(now.reads - before.reads + (now.shared_reads - before.shared_reads), 100u);
  EXPECT_EQ(now.under_way, 0u);
  EXPECT_LE(now.read_bytes - before.read_bytes, pages);
  EXPECT_GE(now.read_bytes - before.read_bytes, bytes * 9 / 10);
  EXPECT_EQ(now.failed_reads, before.failed_reads);
  const auto sum = [](const auto& waits) {
    return std::accumulate(waits.begin(), waits.end(), std::uint64_t{0});
  };
  EXPECT_EQ(sum(now.waits) - sum(before.waits), now.reads - before.reads);
}

// No more than kBytesUnderWay is started: what of them was not started when the reader goes ends as
// cancelled.
TEST_P(ColdReader, StartsALimitedNumberOfBytesAtATime) {
  const objects_out objects(4096, 4000);
  auto reader = make_reader(GetParam());
  reads made;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    made.push_back(reader->read(miss(objects[i]), i));
  }
  reader->submit();
  reader.reset();
  std::map<const cold_read*, std::size_t> first_objects;
  for (std::size_t i = 0; i < made.size(); ++i) first_objects.emplace(made[i].get(), i);
  std::uint64_t started = 0, cancelled = 0;
  for (const auto& [read, i] : first_objects) {
    ASSERT_TRUE(read->has_ended());
    if (read->error() == 0) {
      started += read->where().bytes;
      ASSERT_TRUE(objects.is_copy(read->copy_of(objects[i]), i));
    } else {
      ASSERT_EQ(read->error(), ECANCELED);
      ASSERT_EQ(read->copy_of(objects[i]), nullptr);
      cancelled += read->where().bytes;
    }
  }
  EXPECT_LE(started, cold_reader::kBytesUnderWay);
  EXPECT_GT(started, cold_reader::kBytesUnderWay - 3 * base::kPageBytes);
  EXPECT_GT(cancelled, started);
}

TEST_P(ColdReader, WhatHasToWaitIsReadInItsTurn) {
  const objects_out objects(4096, 4000);
  const auto reader = make_reader(GetParam());
  const reads made = read_all(*reader, objects);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    ASSERT_TRUE(objects.is_copy(made[i]->copy_of(objects[i]), i)) << i;
  }
}

TEST_P(ColdReader, AnObjectBeyondTheLimitIsReadAlone) {
  const objects_out large(2, 6'000'000), small(10, 3000);
  const auto reader = make_reader(GetParam());
  reads made;
  for (std::size_t i = 0; i < 5; ++i) made.push_back(reader->read(miss(small[i]), i));
  for (std::size_t i = 0; i < 2; ++i) made.push_back(reader->read(miss(large[i]), 5 + i));
  for (std::size_t i = 5; i < 10; ++i) made.push_back(reader->read(miss(small[i]), 2 + i));
  reader->submit();
  EXPECT_EQ(take(*reader, 12), tickets(12));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(large.is_copy(made[5 + i]->copy_of(large[i]), i));
  }
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(small.is_copy(made[i < 5 ? i : 2 + i]->copy_of(small[i]), i));
  }
}

TEST_P(ColdReader, WhoSharesAReadTellsWhetherItsObjectHadBeenUsed) {
  const objects_out objects(10, 2000);
  const auto reader = make_reader(GetParam());
  const auto first = reader->read(miss(objects[3]), 0);
  const auto second = reader->read(miss(objects[3], used_before::yes), 1);
  const auto third = reader->read(miss(objects[3]), 2);
  ASSERT_EQ(first, second);
  ASSERT_EQ(first, third);
  reader->submit();
  take(*reader, 3);
  EXPECT_EQ(first->before(), used_before::yes);
}

TEST_P(ColdReader, TwoThreadsShareARead) {
  const objects_out objects(10, 2000);
  const cold_read_statistics before = cold_reads();
  const auto mine = make_reader(GetParam());
  const auto read = mine->read(miss(objects[3]), 1);
  std::latch has_asked(1);
  std::shared_ptr<const cold_read> shared;
  std::thread other([&] {
    const auto its = make_reader(GetParam());
    shared = its->read(miss(objects[3]), 77);
    its->submit();
    has_asked.count_down();
    EXPECT_EQ(take(*its, 1), std::vector<std::uint64_t>{77});
    EXPECT_TRUE(objects.is_copy(shared->copy_of(objects[3]), 3));
  });
  has_asked.wait();
  EXPECT_NE(shared, read) << "each has its own";
  mine->submit();
  EXPECT_EQ(take(*mine, 1), std::vector<std::uint64_t>{1});
  other.join();
  const cold_read_statistics now = cold_reads();
  EXPECT_EQ(now.misses - before.misses, 2u);
  EXPECT_EQ(now.reads - before.reads, 1u);
  EXPECT_EQ(now.shared_reads - before.shared_reads, 1u);
}

TEST_P(ColdReader, ObjectsOfAPageShareItsRead) {
  const objects_out objects(40, 500);
  const auto reader = make_reader(GetParam());
  std::map<std::uint64_t, std::shared_ptr<const cold_read>> by_page;
  std::size_t shared = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto read = reader->read(miss(objects[i]), i);
    const auto [at, is_first] = by_page.emplace(read->where().offset, read);
    shared += !is_first && at->second == read;
    EXPECT_TRUE(is_first || at->second == read) << "one page each";
  }
  EXPECT_GE(shared, 30u);
  reader->submit();
  take(*reader, objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto& read = by_page.at(heaps().cold().place_of(objects[i]).offset);
    EXPECT_TRUE(objects.is_copy(read->copy_of(objects[i]), i)) << i;
  }
  const auto ended = reader->read(miss(objects[0]), 0);
  EXPECT_NE(ended, by_page.at(ended->where().offset)) << "one that has ended is not shared";
  reader->submit();
  take(*reader, 1);
}

/// A small object and a larger one that begin in the same page.
struct neighbours {
  neighbours() {
    while (!larger) {
      small = allocate(kind::cold, 700);
      all.push_back(small);
      void* const next = allocate(kind::cold, 9000);
      all.push_back(next);
      const cold_extents& cold = heaps().cold();
      if (cold.place_of(small).offset == cold.place_of(next).offset) larger = next;
    }
    std::memset(small, 1, 700);
    std::memset(larger, 2, 9000);
    testing_help::close_cold_extents();
    testing_help::page_out_all();
  }
  ~neighbours() {
    for (void* each : all) deallocate(each);
  }
  std::vector<void*> all;
  void *small = nullptr, *larger = nullptr;
};

TEST_P(ColdReader, AReadOfTooFewPagesIsNotShared) {
  const neighbours two;
  const auto reader = make_reader(GetParam());
  const auto first = reader->read(miss(two.small), 0);
  const auto second = reader->read(miss(two.larger), 1);
  const auto third = reader->read(miss(two.small), 2);
  const auto fourth = reader->read(miss(two.larger), 3);
  EXPECT_NE(first, second);
  EXPECT_EQ(second, fourth);
  EXPECT_EQ(first->where().offset, second->where().offset);
  EXPECT_LT(first->where().bytes, second->where().bytes);
  reader->submit();
  EXPECT_EQ(take(*reader, 4), tickets(4));
  EXPECT_EQ(*static_cast<const char*>(third->copy_of(two.small)), 1);
  const auto* const copy = static_cast<const char*>(second->copy_of(two.larger));
  EXPECT_EQ(std::count(copy, copy + 9000, 2), 9000);
  EXPECT_EQ(*static_cast<const char*>(second->copy_of(two.small)), 1);

  arrived_reads arrived;
  const auto find = [&](const void* object) {
    return arrived.find(heaps().cold().place_of(object));
  };
  EXPECT_TRUE(arrived.is_empty());
  arrived.add(first);
  EXPECT_EQ(find(two.small), first);
  EXPECT_EQ(find(two.larger), nullptr) << "its last pages are not there";
  arrived.add(second);
  EXPECT_EQ(find(two.larger), second);
  EXPECT_NE(find(two.small), nullptr);
  arrived.clear();
  EXPECT_TRUE(arrived.is_empty());
}

TEST_P(ColdReader, ArrivedReadsAreFoundInWhicheverOrderTheyCame) {
  const objects_out objects(200, 3000);
  const auto reader = make_reader(GetParam());
  const reads made = read_all(*reader, objects);
  arrived_reads arrived;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::size_t k = i * 77 % objects.size();
    arrived.add(made[k]);
    const auto found = arrived.find(made[k]->where());
    ASSERT_NE(found, nullptr);
    ASSERT_TRUE(objects.is_copy(found->copy_of(objects[k]), k));
    const std::size_t later = (i + 2) * 77 % objects.size();  // not in one of the pages either
    const auto not_yet = arrived.find(made[later]->where());
    ASSERT_TRUE(not_yet == nullptr || not_yet->where().offset == made[later]->where().offset);
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const auto found = arrived.find(made[i]->where());
    ASSERT_NE(found, nullptr) << i;
    ASSERT_TRUE(objects.is_copy(found->copy_of(objects[i]), i));
  }
}

TEST_P(ColdReader, WhatFollowsAReaderThatGoesIsRead) {
  const objects_out objects(2, 5000);
  auto first = make_reader(GetParam()), second = make_reader(GetParam());
  const auto not_started = first->read(miss(objects[0]), 1);
  const auto follows = second->read(miss(objects[0]), 7);
  second->submit();
  first.reset();
  EXPECT_EQ(not_started->error(), ECANCELED);
  EXPECT_EQ(not_started->copy_of(objects[0]), nullptr);
  EXPECT_EQ(take(*second, 1), std::vector<std::uint64_t>{7});
  EXPECT_TRUE(objects.is_copy(follows->copy_of(objects[0]), 0));
  // And one that waits for another's goes.
  first = make_reader(GetParam());
  const auto other = first->read(miss(objects[1]), 1);
  const auto left = second->read(miss(objects[1]), 8);
  second.reset();
  first->submit();
  EXPECT_EQ(take(*first, 1), std::vector<std::uint64_t>{1});
  EXPECT_TRUE(objects.is_copy(other->copy_of(objects[1]), 1));
  EXPECT_FALSE(left->has_ended());
}

TEST_P(ColdReader, TheExtentIsKeptUntilTheReadIsGone) {
  const auto held = [] { return usage_of(kind::cold, residency::left_out).extent_bytes; };
  const auto reader = make_reader(GetParam());
  std::shared_ptr<const cold_read> read;
  std::uint64_t full = 0;
  const void* object = nullptr;
  {
    const objects_out objects(1, kExtentBytes / 2 * 3);  // extents of its own
    object = objects[0];
    read = reader->read(miss(object), 0);
    full = held();
  }
  EXPECT_EQ(held(), full) << "it was freed";
  reader->submit();
  take(*reader, 1);
  void* const other = allocate(kind::cold, kExtentBytes / 2 * 3);
  EXPECT_NE(other, object);
  deallocate(other);
  EXPECT_EQ(held(), full);
  read.reset();
  EXPECT_EQ(held(), full - 2 * kExtentBytes);
}

TEST_P(ColdReader, AFailedReadOfMorePagesSaysNothingOfAnObjectOfFewer) {
  const neighbours two;
  const auto reader = make_reader(GetParam());
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? EIO : 0; });
  const auto wide = reader->read(miss(two.larger), 0);
  reader->submit();
  take(*reader, 1);
  os::set_fault_hook({});
  ASSERT_EQ(wide->error(), EIO);
  arrived_reads arrived;
  arrived.add(wide);
  const auto place_of = [](const void* each) { return heaps().cold().place_of(each); };
  EXPECT_EQ(arrived.find(place_of(two.larger)), wide);
  EXPECT_EQ(arrived.find(place_of(two.small)), nullptr);
  EXPECT_EQ(arrived.asked_for(place_of(two.small)), nullptr);
}

TEST_P(ColdReader, AFailedReadHasNoCopy) {
  const objects_out objects(3, 5000);
  const auto reader = make_reader(GetParam());
  const cold_read_statistics before = cold_reads();
  os::set_fault_hook([](os::io_call call) { return call == os::io_call::read ? EIO : 0; });
  const reads made = read_all(*reader, objects);
  os::set_fault_hook({});
  for (std::size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(made[i]->error(), EIO);
    EXPECT_EQ(made[i]->copy_of(objects[i]), nullptr);
  }
  EXPECT_EQ(cold_reads().failed_reads - before.failed_reads, cold_reads().reads - before.reads);
}

// The header, and the first pages, are there.
TEST_P(ColdReader, AnObjectOfWhichTheDiskHasLostTheEndHasNoCopy) {
  const objects_out objects(1, 2'000'000);
  ASSERT_TRUE(testing_help::truncate_cold(
      testing_help::cold_in_a_file(),
      cold_offset_of(objects[0]) / base::kPageBytes * base::kPageBytes + 10 * base::kPageBytes));
  const auto reader = make_reader(GetParam());
  const reads made = read_all(*reader, objects);
  EXPECT_EQ(made[0]->error(), EIO);
  EXPECT_EQ(made[0]->copy_of(objects[0]), nullptr);
  testing_help::truncate_cold(testing_help::cold_in_a_file(), testing_help::kColdRangeBytes);
}

// The disk failed to take the page, and gives what it had there before.
TEST_P(ColdReader, APageWithoutALiveObjectHasNoCopy) {
  const objects_out objects(10, 5000);
  const std::string& path = testing_help::cold_in_a_file();
  ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  ASSERT_TRUE(testing_help::truncate_cold(path, testing_help::kColdRangeBytes));
  const auto reader = make_reader(GetParam());
  const reads made = read_all(*reader, objects);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(made[i]->error(), 0);
    EXPECT_EQ(made[i]->copy_of(objects[i]), nullptr);
  }
}

TEST_P(ColdReader, ARefusalOfMemoryIsToldAsAnyEnd) {
  const objects_out objects(20, 5000);
  const auto reader = make_reader(GetParam());
  testing_help::refuses_pages = true;
  reads made;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    made.push_back(reader->read(miss(objects[i]), i));
  }
  reader->submit();
  EXPECT_EQ(take(*reader, objects.size()), tickets(objects.size()));
  testing_help::refuses_pages = false;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(made[i]->error(), ENOMEM);
    EXPECT_EQ(made[i]->copy_of(objects[i]), nullptr);
  }
}

}  // namespace
}  // namespace isotherm::heap
