// Marks of bytes against a plain set, and the figures that are counted from them.
#include "pages/shadow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "pages/measure.hpp"

namespace isotherm::pages {
namespace {

shadow make() { return std::move(*shadow::create()); }

std::set<std::uint64_t> marked(const shadow& s, unsigned area) {
  std::set<std::uint64_t> all;
  const auto read = s.for_each_page(area, [&](const marked_page& page) {
    for (std::uint64_t byte = 0; byte < 4096; ++byte) {
      if ((page.bytes[byte / 64] >> byte % 64 & 1) != 0) all.insert(page.number * 4096 + byte);
    }
  });
  EXPECT_TRUE(read);
  return all;
}

TEST(Shadow, HoldsExactlyTheMarkedBytes) {
  const std::uint64_t seed = 20261129;
  SCOPED_TRACE(seed);
  base::random random(seed);
  const auto s = make();
  std::set<std::uint64_t> expected;
  for (int i = 0; i < 3000; ++i) {
    // Around a few places, one of them the last page.
    const std::uint64_t place[] = {0, 4096 * 7 - 50, std::uint64_t{1} << 40, kAddressEnd - 9000};
    const std::uint64_t address = place[random.below(4)] + random.below(8000);
    const std::uint64_t bytes = 1 + random.below(random.below(20) == 0 ? 900 : 17);
    s.mark(1, address, bytes);
    for (std::uint64_t b = 0; b < bytes; ++b) expected.insert(address + b);
  }
  EXPECT_EQ(marked(s, 1), expected);
  EXPECT_TRUE(marked(s, 0).empty());
}

TEST(Shadow, LeavesOutAddressesOfTheKernel) {
  const auto s = make();
  s.mark(0, kAddressEnd - 2, 100);
  s.mark(0, kAddressEnd, 8);
  s.mark(0, ~std::uint64_t{0} - 3, 8);
  s.mark(0, 5000, 0);
  EXPECT_EQ(marked(s, 0), (std::set<std::uint64_t>{kAddressEnd - 2, kAddressEnd - 1}));
  EXPECT_TRUE(marked(s, 1).empty());
}

TEST(Shadow, ClearsOneAreaAlone) {
  const auto s = make();
  s.mark(0, 100, 8);
  s.mark(1, 200, 1);
  EXPECT_TRUE(s.clear(0));
  EXPECT_TRUE(marked(s, 0).empty());
  EXPECT_EQ(marked(s, 1), std::set<std::uint64_t>{200});
  s.mark(0, 101, 1);
  EXPECT_EQ(marked(s, 0), std::set<std::uint64_t>{101});
}

TEST(Shadow, LosesNoMarksOfThreadsInOneWord) {
  const auto s = make();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&s, t] {
      for (std::uint64_t i = t; i < 4096 * 4; i += 4) s.mark(0, i, 1);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(marked(s, 0).size(), 4096U * 4);
}

window ended_at(memory_image image) {
  window w;
  w.memory = std::move(image);
  return w;
}

TEST(Measure, CountsBytesLinesAndPages) {
  const auto s = make();
  s.mark(0, 0x1000, 1);
  s.mark(0, 0x103f, 2);       // two lines
  s.mark(0, 0x200000, 4096);  // all of a page of the next 2 MiB
  const auto report = measure(s, ended_at({}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->small.pages, 2U);
  EXPECT_EQ(report->small.used, 3U + 4096);
  EXPECT_EQ(report->small.lines, 128U + 4096);
  EXPECT_EQ(report->huge.pages, 2U);
  EXPECT_EQ(report->huge.capacity, 4U << 20);
  EXPECT_EQ(report->huge.used, report->small.used);
  EXPECT_EQ(report->could_leave_in_order(), 2U * 4096 - 4096 - 128);
  EXPECT_DOUBLE_EQ(report->small.utilization(), (3.0 + 4096) / 8192);
  EXPECT_FALSE(report->knows_resident);
}

TEST(Measure, SharesUpToAPercentAreExact) {
  utilization_histogram pages;
  pages.add(122, 4096);  // 2.98%
  pages.add(123, 4096);  // 3.003%
  pages.add(4096, 4096);
  pages.add(1024, 4096);  // 25%
  EXPECT_DOUBLE_EQ(pages.share_up_to(30), 0.25);
  EXPECT_DOUBLE_EQ(pages.share_up_to(31), 0.5);
  EXPECT_DOUBLE_EQ(pages.share_up_to(249), 0.5);
  EXPECT_DOUBLE_EQ(pages.share_up_to(250), 0.75);
  EXPECT_DOUBLE_EQ(pages.share_up_to(999), 0.75);
  EXPECT_DOUBLE_EQ(pages.share_up_to(1000), 1);
  EXPECT_DOUBLE_EQ(utilization_histogram().share_up_to(1000), 0);
}

TEST(Measure, SplitsWhatIsHeldByMappings) {
  const auto s = make();
  s.mark(0, 0x10000, 10);
  s.mark(0, 0x13000, 20);  // no longer resident
  s.mark(0, 0x20000, 30);
  s.mark(0, 0x90000, 40);  // in no mapping
  memory_image image;
  image.mappings = parse_mappings(
      "10000-14000 rw-p 00000000 00:00 0                          [heap]\n"
      "20000-22000 r--p 00000000 fe:00 123                        /usr/lib/a name.so\n"
      "22000-23000 rw-p 00000000 fe:00 123                        /usr/lib/a name.so\n");
  image.resident = {{{0x10000, 0x12000}, false}, {{0x20000, 0x22000}, false}};
  image.knows_resident = true;
  const auto report = measure(s, ended_at(image));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->all.resident, 4U * 4096);
  EXPECT_EQ(report->all.untouched, 2U * 4096);
  EXPECT_EQ(report->all.touched, 4U * 4096);
  EXPECT_EQ(report->all.used, 100U);
  EXPECT_EQ(report->could_leave(), 2U * 4096);
  EXPECT_EQ(report->could_leave_in_order(), 2U * 4096 - 4 * 64);
  const auto& heap = report->by_kind[static_cast<unsigned>(mapping_kind::heap)];
  EXPECT_EQ(heap.used, 30U);
  EXPECT_EQ(heap.untouched, 4096U);
  const auto& unknown = report->by_kind[static_cast<unsigned>(mapping_kind::unknown)];
  EXPECT_EQ(unknown.used, 40U);
  ASSERT_EQ(report->mappings.size(), 3U);
  EXPECT_EQ(report->mappings[0].name, "[heap]");
  EXPECT_EQ(report->mappings[1].name, "/usr/lib/a name.so");
  EXPECT_EQ(report->mappings[1].sizes.mapped, 3U * 4096);
}

TEST(Measure, JudgesRealHugePagesByTheirSize) {
  const auto s = make();
  s.mark(0, 0x200000, 100);
  s.mark(0, 0x3ff000, 100);
  s.mark(0, 0x400000, 100);
  memory_image image;
  image.mappings = parse_mappings("200000-402000 rw-p 00000000 00:00 0 \n");
  image.resident = {{{0x200000, 0x400000}, true}, {{0x400000, 0x402000}, false}};
  image.knows_resident = true;
  const auto report = measure(s, ended_at(image));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->resident_in_huge, 2U << 20);
  EXPECT_EQ(report->real.pages, 2U);
  EXPECT_EQ(report->real.capacity, (2U << 20) + 4096);
  EXPECT_EQ(report->real.used, 300U);
}

}  // namespace
}  // namespace isotherm::pages
