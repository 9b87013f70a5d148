// Guides and the collector beside a disk that does not give pages back. A program of its own, since
// heaps are configured once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/collector.hpp"
#include "collector/scan/search.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/packed/extent.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

constexpr std::size_t kObjects = 10'000, kRangeBytes = std::size_t{1} << 30;

std::string content_of(std::size_t i) { return std::string(1000, static_cast<char>('a' + i % 26)); }

/// Not trivially destructible: whoever frees it must have it.
struct with_destructor {
  ~with_destructor() { ++destroyed; }
  static inline std::size_t destroyed = 0;
  char content[9000];
};

}  // namespace
}  // namespace isotherm::collector

template <>
struct isotherm::is_trivially_relocatable<isotherm::collector::with_destructor> : std::true_type {};

namespace isotherm::collector {
namespace {

class Unreadable : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    path = directory.path();
    heap::options chosen;
    chosen.range_bytes = kRangeBytes;
    chosen.cold = *heap::cold_backing::parse("file:" + path);
    chosen.catch_read_errors = true;
    ASSERT_TRUE(heap::configure(chosen));
  }
  static inline std::string path;
};

// Others, which do not wait, are not to take its pages for ones in DRAM.
TEST_F(Unreadable, StaysOut) {
  std::vector<guide<bytes>> guides;
  for (std::size_t i = 0; i < kObjects; ++i) {  // so that the first one's extent is full
    guides.emplace_back(testing_help::bytes_in_cold(content_of(i)));
  }
  heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0});
  const void* object = guides::pointer_of(guides.front().slot().load_relaxed());
  ASSERT_TRUE(heap::is_out(object));
  ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  for (int look = 0; look < 2; ++look) {
    const scope inside;
    EXPECT_EQ(guides.front().get(inside), nullptr);
    EXPECT_TRUE(heap::is_out(object));
  }
  guides.clear();
  ASSERT_TRUE(testing_help::truncate_cold(path, kRangeBytes));
}

TEST_F(Unreadable, IsLostAloneToReadersAndToTheCollector) {
  std::vector<guide<bytes>> guides;
  for (std::size_t i = 0; i < kObjects; ++i) guides.emplace_back(make_bytes(content_of(i)));
  object_collector collector(
      {.policy = policy_name::published, .cold_threshold = 1, .adaptive_threshold = false});
  while (heap::usage_of(heap::kind::cold, heap::residency::left_out).objects < kObjects)
    collector.run_window();
  ASSERT_TRUE(testing_help::truncate_cold(path, 4 * heap::kExtentBytes));

  std::size_t lost = 0;
  for (int look = 0; look < 3; ++look) {
    std::size_t lost_now = 0;
    for (std::size_t i = 0; i < kObjects; ++i) {
      access inside;
      const bytes* found = look == 0 ? guides[i].peek(inside) : guides[i].get(inside);
      ASSERT_EQ(inside.result(), found ? access::outcome::complete : access::outcome::unreadable);
      if (found) {
        ASSERT_EQ(found->view(), content_of(i));
      } else {
        ++lost_now;
      }
    }
    EXPECT_GT(lost_now, kObjects / 3);
    EXPECT_LT(lost_now, kObjects);
    EXPECT_TRUE(look == 0 || lost_now == lost);
    lost = lost_now;
    // What was accessed is promoted when it is in DRAM.
    EXPECT_EQ(collector.run_window().failed, 0u) << "the collector asks no disk for it";
  }
  // Another object in its place, or none.
  for (std::size_t i = 0; i < kObjects; i += 2) {
    const scope inside;
    ASSERT_TRUE(guides[i].replace(inside, make_bytes(guides[i], "new")));
  }
  for (std::size_t i = 0; i < kObjects; i += 2) {
    const scope inside;
    ASSERT_EQ(guides[i].get(inside)->view(), "new");
  }
  EXPECT_GT(collector.run_window().failed, 0u) << "COLD was compacted, as far as it can be read";
  guides.clear();
}

// Whoever destroys a neighbour of its guide waits meanwhile.
TEST_F(Unreadable, IsNotLookedAtWhereCompactionIsSought) {
  std::vector<guide<bytes>> guides;
  for (std::size_t i = 0; i < kObjects; ++i) {
    guides.emplace_back(testing_help::bytes_in_cold(std::string(1000, 'x')));
  }
  for (std::size_t i = 0; i < kObjects; i += 2) guides[i].reset();
  ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  const std::uint64_t before = heap::lost_reads();
  std::vector<candidate> found;
  guides::progress so_far;
  const auto groups = heap::sparsest_of(heap::kind::cold, {.live_share = 0.75});
  ASSERT_EQ(groups.size(), 1u);
  find_in_order(*make_policy(policy_name::budget), groups.front(), so_far, found);
  EXPECT_TRUE(so_far.is_over);
  EXPECT_GT(found.size(), kObjects / 4);
  EXPECT_EQ(heap::lost_reads(), before);
}

TEST_F(Unreadable, IsNoLossOfWhomFreesIt) {
  constexpr std::size_t kMany = 1000;
  std::vector<guide<with_destructor>> guides;
  std::size_t in_cold = 0;  // the others found no room: its last page is lost
  for (std::size_t i = 0; i < kMany; ++i) {
    auto object = testing_help::object_in_cold<with_destructor>();
    in_cold += object.where() == heap::kind::cold;
    guides.emplace_back(std::move(object));
  }
  ASSERT_GT(in_cold, kMany / 2);
  ASSERT_TRUE(testing_help::truncate_cold(path, 0));
  const std::uint64_t before = heap::lost_reads();
  {
    const scope inside;
    for (auto& each : guides) each.clear(inside);
  }
  sync::reclaim_ready();
  EXPECT_EQ(with_destructor::destroyed, kMany - in_cold);
  EXPECT_EQ(heap::lost_reads(), before);
}

}  // namespace
}  // namespace isotherm::collector
