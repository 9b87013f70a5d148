// Misses, reads and writes of COLD, while operator new refuses. A program of its own for its
// operator new.
#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <utility>

#include "heap/cold/batch_reads.hpp"
#include "heap/cold/object_copy.hpp"
#include "heap/cold/objects_out.hpp"
#include "heap/packed/extent.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"
#include "sync/refusing_new.hpp"

namespace isotherm::heap {
namespace {

// At each place where it asks for some: one of them does so once in a few dozen misses.
TEST(ColdReaderWithoutMemory, AMissThatFindsNoMemoryLeavesNothingBehind) {
  testing_help::cold_in_a_file();
  constexpr std::size_t kMostCalls = 8, kOfEach = 80;
  const testing_help::objects_out objects(kMostCalls * kOfEach, 5000);
  const auto reader = testing_help::make_reader();
  std::size_t refusals = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    miss wanted(objects[i]);
    testing_help::calls_before_refusal = static_cast<int>(i / kOfEach);
    testing_help::refuses_memory = true;
    bool is_refused = false;
    try {
      reader->read(std::move(wanted), i);
    } catch (const std::bad_alloc&) {
      is_refused = true;
    }
    testing_help::refuses_memory = false;
    if (!is_refused) continue;
    ++refusals;
    const std::uint64_t before = cold_reads().shared_reads;
    reader->read(miss(objects[i]), i);
    ASSERT_EQ(cold_reads().shared_reads, before) << "nobody would have started it";
  }
  reader->submit();
  EXPECT_EQ(testing_help::take(*reader, objects.size()).size(), objects.size());
  EXPECT_GT(refusals, 3 * kOfEach);
  EXPECT_LT(refusals, 5 * kOfEach) << "it gets by with less";
  EXPECT_EQ(cold_reads().under_way, 0u);
}

// Wherever a call asks for some, with a disk that takes all and with one that takes nothing.
TEST(LogWriterWithoutMemory, WhatCannotBeListedStaysAndIsWrittenLater) {
  testing_help::cold_in_a_file();
  for (const int code : {0, EIO}) {
    void* const object = allocate(kind::cold, 2 * kExtentBytes);
    const std::uint64_t held = usage_of(kind::cold, residency::left_out).extent_bytes;
    os::set_fault_hook([code](os::io_call call) { return call == os::io_call::write ? code : 0; });
    constexpr int kMostCalls = 16;
    int problems = 0;
    for (int calls = 0; calls < kMostCalls && !is_out(object); ++calls) {
      testing_help::calls_before_refusal = calls;
      testing_help::refuses_memory = true;
      const page_out_report report = page_out_cold(hint::pageout, ~std::uint64_t{0});
      testing_help::refuses_memory = false;
      EXPECT_TRUE(is_out(object) || !report.problem.empty());
      problems += report.problem.empty() ? 0 : 1;
    }
    EXPECT_GE(problems, 1);
    os::set_fault_hook({});
    testing_help::page_out_all();
    EXPECT_TRUE(is_out(object));
    deallocate(object);
    EXPECT_EQ(usage_of(kind::cold, residency::left_out).extent_bytes, held - 3 * kExtentBytes)
        << "no failure has left it pinned";
  }
}

// The copy takes none; the text of an error does.
TEST(ObjectCopyWithoutMemory, FailsOrIsRead) {
  testing_help::cold_in_a_file();
  const testing_help::objects_out objects(1, 5000);
  for (const int code : {0, EIO}) {
    os::set_fault_hook([code](os::io_call call) { return call == os::io_call::read ? code : 0; });
    testing_help::calls_before_refusal = 0;
    testing_help::refuses_memory = true;
    const auto copy = object_copy::read(objects[0]);
    testing_help::refuses_memory = false;
    os::set_fault_hook({});
    EXPECT_EQ(copy.has_value(), code == 0);
    if (!copy) EXPECT_EQ(copy.error(), EIO);
  }
}

TEST(BatchReadsWithoutMemory, AreReadOrNotFound) {
  testing_help::cold_in_a_file();
  const testing_help::objects_out objects(200, 5000);
  std::size_t runs_that_read = 0;
  for (int calls = 0; calls < 60; ++calls) {
    batch_reads batch;
    testing_help::calls_before_refusal = calls;
    testing_help::refuses_memory = true;
    for (std::size_t i = 0; i < objects.size(); i += 10) batch.add(objects[i]);
    batch.run();
    testing_help::refuses_memory = false;
    std::size_t found = 0;
    for (std::size_t i = 0; i < objects.size(); i += 10) {
      const void* const copy = batch.find(objects[i]);
      if (copy != nullptr) ++found;
      EXPECT_TRUE(copy == nullptr || objects.is_copy(copy, i));
    }
    runs_that_read += found == objects.size() / 10 ? 1 : 0;
  }
  EXPECT_GE(runs_that_read, 1u);
  EXPECT_LT(runs_that_read, 60u);
}

}  // namespace
}  // namespace isotherm::heap
