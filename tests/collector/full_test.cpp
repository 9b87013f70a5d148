// Pitfall 8: what finds no room in its target heap stays where it is, whole, and is counted. A
// program of its own, since heaps are configured once.
#include <gtest/gtest.h>

#include <string>

#include "collector/collector.hpp"
#include "collector/protocol/protocol.hpp"
#include "guide/guide.hpp"
#include "heap/configure.hpp"
#include "heap/object.hpp"

namespace isotherm::collector {
namespace {

using heap::kind;

constexpr std::size_t kRangeBytes = std::size_t{64} << 20;

TEST(FullHeap, LeavesTheObjectWhereItIs) {
  heap::options small;
  small.range_bytes = kRangeBytes;
  ASSERT_TRUE(heap::configure(small));
  const std::string content(1000, 'a');
  const guide<bytes> g(make_bytes(content));
  std::size_t filled = 0;
  while (heap::allocate(kind::cold, 100'000)) filled += 100'000;
  while (heap::allocate(kind::cold, 500)) filled += 500;
  ASSERT_GT(filled, kRangeBytes / 2);

  for (const std::string_view protocol : protocol_names()) {
    object_collector collector({.window_seconds = 1e9,
                                .policy = policy_name::published,
                                .cold_threshold = 1,
                                .protocol = std::string(protocol)});
    collector.run_window();  // it was used when it was made
    const window_statistics seen = collector.run_window();
    EXPECT_EQ(seen.failed, 1u) << protocol;
    EXPECT_EQ(seen.demoted.objects, 0u) << protocol;
    const guides::word now = g.slot().load_relaxed();
    EXPECT_NE(guides::heap_of(now), kind::cold) << protocol;
    EXPECT_FALSE(guides::is_locked(now)) << protocol;
    const scope inside;
    EXPECT_EQ(g.get(inside)->view(), content) << protocol;
  }
}

}  // namespace
}  // namespace isotherm::collector
