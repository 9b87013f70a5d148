// Misses, while operator new refuses. A program of its own for its operator new.
#include <gtest/gtest.h>

#include <new>
#include <utility>

#include "heap/cold/objects_out.hpp"
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

}  // namespace
}  // namespace isotherm::heap
