// The same where COLD has no file: pages that are out are brought back. There is no swap where this
// runs, or need not be, so that what is out is said by hand.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/in_a_child.hpp"
#include "heap/anonymous_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/batch_reads.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/object.hpp"
#include "heap/poison.hpp"
#include "heap/ranges.hpp"
#include "heap/upkeep.hpp"

// Around fork() jemalloc holds more locks than ThreadSanitizer's lock-order detector bears: see
// file_test.cpp.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

namespace isotherm::heap {
namespace {

[[maybe_unused]] const auto* const cold_is_anonymous = testing_help::with_anonymous_cold();

/// An object of COLD. For its life, unless it is used, its extents count as having left DRAM.
class object_said_out {
 public:
  explicit object_said_out(std::size_t bytes) : object_(allocate(kind::cold, bytes)) {
    std::memset(object_, 7, bytes);
    EXPECT_FALSE(is_out(object_));
    cold_.mark_out(extent(), extents());
  }
  ~object_said_out() {
    cold_.mark_in({extent() * kExtentBytes, extents() * kExtentBytes});
    deallocate(object_);
  }
  object_said_out(const object_said_out&) = delete;
  object_said_out& operator=(const object_said_out&) = delete;
  const char* get() const { return static_cast<const char*>(object_); }

 private:
  std::uint64_t extent() const { return cold_.place_of(object_).offset / kExtentBytes; }
  std::size_t extents() const {
    const base::page_span where = cold_.place_of(object_);
    return (where.offset + where.bytes - 1) / kExtentBytes - extent() + 1;
  }
  cold_extents& cold_ = heaps().cold();
  void* const object_;
};

std::vector<std::uint64_t> take(cold_reader& reader, std::size_t count) {
  std::vector<std::uint64_t> told;
  while (told.size() < count) {
    reader.wait(-1);
    reader.take_ended([&told](std::uint64_t ticket) { told.push_back(ticket); });
  }
  return told;
}

#if defined(ISOTHERM_ASAN)
TEST(AnonymousColdDeathTest, UseAfterFreeIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto* const object = static_cast<volatile char*>(allocate(kind::cold, 100));
  deallocate(const_cast<char*>(object));
  EXPECT_DEATH(static_cast<void>(object[0]), "use-after-poison");
}
#endif

// Its first and its last page are its neighbours' too, and come back with these.
TEST(AnonymousCold, AnObjectIsOutWhileAnyOfItsPagesIs) {
  for (const std::size_t bytes : {std::size_t{10'000}, 3 * kExtentBytes}) {
    const object_said_out one(bytes);
    cold_extents& cold = heaps().cold();
    const base::page_span where = cold.place_of(one.get());
    cold.mark_in({where.offset, base::kPageBytes});
    cold.mark_in({where.offset + where.bytes - base::kPageBytes, base::kPageBytes});
    EXPECT_TRUE(is_out(one.get())) << bytes;
    cold.mark_in(where);
    EXPECT_FALSE(is_out(one.get())) << bytes;
  }
}

TEST(AnonymousCold, APageThatIsOutIsBroughtBack) {
  auto reader = std::move(*cold_reader::make());
  EXPECT_EQ(reader->engine(), "threads");
  const object_said_out one(10'000);
  EXPECT_TRUE(is_out(one.get()));
  const cold_read_statistics before = cold_reads();
  const auto read = reader->read(miss(one.get()), 5);
  reader->submit();
  EXPECT_EQ(take(*reader, 1), std::vector<std::uint64_t>{5});
  EXPECT_EQ(read->error(), 0);
  EXPECT_FALSE(read->was_copied());
  EXPECT_EQ(read->copy_of(one.get()), nullptr) << "it is where it was";
  EXPECT_FALSE(is_out(one.get()));
  EXPECT_EQ(cold_reads().reads - before.reads, 1u);
  EXPECT_EQ(cold_reads().failed_reads, before.failed_reads);
  EXPECT_EQ(one.get()[9999], 7);
}

TEST(AnonymousCold, WhatWasNotBroughtBackStaysOut) {
  const object_said_out one(3000);
  const auto read = [&one] {
    const auto reader = std::move(*cold_reader::make());
    return reader->read(miss(one.get()), 5);
  }();
  EXPECT_EQ(read->error(), ECANCELED);
  EXPECT_TRUE(is_out(one.get()));
}

TEST(AnonymousCold, AForkChildHasNoReader) {
  const object_said_out one(3000);
  auto reader = std::move(*cold_reader::make());
  const auto read = reader->read(miss(one.get()), 5);
  reader->submit();
  // Another thread is amid a read nearly all the time.
  std::jthread other([&one](const std::stop_token& is_over) {
    const auto its = std::move(*cold_reader::make());
    while (!is_over.stop_requested()) {
      its->read(miss(one.get()), 1);
      its->submit();
      its->take_ended([](std::uint64_t) {});
    }
  });
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(testing_help::succeeds_in_a_child([&reader, &one] {
      reader.reset();
      return !cold_reader::make() && one.get()[2999] == 7 ? 0 : 1;
    }));
  }
}

TEST(AnonymousCold, OnlyThePagesOfTheObjectComeBack) {
  auto reader = std::move(*cold_reader::make());
  void* const other = allocate(kind::cold, 9000);
  const object_said_out one(3000);
  ASSERT_TRUE(is_out(other));
  const auto read = reader->read(miss(one.get()), 5);
  reader->submit();
  take(*reader, 1);
  EXPECT_FALSE(is_out(one.get()));
  EXPECT_TRUE(is_out(other));
  deallocate(other);
}

TEST(AnonymousCold, ABatchOfReadsBringsPagesBackAndGivesTheObjectsThemselves) {
  const object_said_out one(10'000), other(3'000'000);
  batch_reads batch;
  batch.add(one.get());
  batch.add(other.get());
  batch.run();
  EXPECT_EQ(batch.find(one.get()), one.get());
  EXPECT_EQ(batch.find(other.get()), other.get());
  EXPECT_EQ(other.get()[2'999'999], 7);
}

TEST(AnonymousCold, NothingIsOutUnlessTheSystemCanTakeIt) {
  std::vector<void*> objects;
  for (int i = 0; i < 3000; ++i) objects.push_back(allocate(kind::cold, 1000));
  const page_out_report report = page_out_cold(hint::pageout, ~std::uint64_t{0});
  for (void* each : objects) {
    // An object that is out has gone to swap; a system without swap reports a problem.
    EXPECT_TRUE(!is_out(each) || report.problem.empty());
    deallocate(each);
  }
}

}  // namespace
}  // namespace isotherm::heap
