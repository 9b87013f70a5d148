// A load near a memory target finds room without a window. Not under the sanitizers, whose own
// memory counts as the process's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collector/collector.hpp"
#include "collector/memory/memory_room.hpp"
#include "guide/guide.hpp"
#include "heap/configure.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

constexpr std::size_t kBytes = 1016;  // 1 KiB with the header: 1,023 take an extent
constexpr std::size_t kInExtent = 1023;
constexpr std::uint64_t kExtent = std::uint64_t{1} << 20;

class Eviction : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    heap::options heaps;
    heaps.cold = *heap::cold_backing::parse("file:" + directory.path());
    ASSERT_TRUE(heap::configure(heaps));
  }
};

TEST_F(Eviction, MakesRoomForALoadWithoutAWindow) {
  options chosen;
  chosen.window_seconds = 3600;
  chosen.memory_target_bytes = read_memory_room(0).dram_bytes + 64 * kExtent;
  object_collector collector(chosen);
  const auto started = collector.start();
  ASSERT_TRUE(started) << started.error().message;
  std::vector<guide<bytes>> held(256 * kInExtent);
  std::string text(kBytes, 'x');
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    std::memcpy(text.data(), &i, sizeof i);
    held[i] = guide<bytes>(make_bytes(text));
    if (i % kInExtent == 0) most = std::max(most, read_memory_room(0).dram_bytes);
  }
  // Extents that were opened since memory was observed last, and copies that have not left.
  EXPECT_LE(most, chosen.memory_target_bytes + 4 * kExtent);
  EXPECT_FALSE(collector.refuses_growth());
  EXPECT_GT(heap::usage_of(heap::kind::cold, heap::residency::left_out).objects, held.size() / 2);
  collector.stop();
  for (std::size_t i = 0; i < held.size(); i += 97) {
    const scope inside;
    std::size_t number = 0;
    std::memcpy(&number, held[i].get(inside)->data(), sizeof number);
    ASSERT_EQ(number, i);
  }
}

// Written extents keep their memory until scopes have closed, which is no reason to write more.
TEST_F(Eviction, LetsNoMoreLeaveThanRoomIsWanted) {
  std::vector<guide<bytes>> held;
  held.reserve(128 * kInExtent);
  for (std::size_t i = 0; i < 128 * kInExtent; ++i) {
    held.emplace_back(make_bytes(std::string(kBytes, 'x')));
  }
  constexpr std::uint64_t kAbove = 64 * kExtent;
  options chosen;
  chosen.memory_target_bytes = read_memory_room(0).dram_bytes - kAbove;
  object_collector collector(options{});
  ASSERT_TRUE(collector.reconfigure(chosen));
  const std::uint64_t wanted = kAbove + chosen.memory_target_bytes / kWritersShare;
  const std::uint64_t demoted = collector.run_window().demoted.bytes;
  EXPECT_GE(demoted, kAbove / 2);
  EXPECT_LT(demoted, wanted + 16 * kExtent);
}

}  // namespace
}  // namespace isotherm::collector
