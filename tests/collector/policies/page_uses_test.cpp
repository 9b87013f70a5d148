// Figures of single pages and objects that a window records for drawing.
#include "collector/page_uses.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/page.hpp"
#include "collector/collector.hpp"
#include "guide/guide.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

constexpr heap::kind kNew = heap::kind::newborn, kHot = heap::kind::hot;

std::uint64_t page_of(heap::kind where, const void* object) {
  return (reinterpret_cast<std::uintptr_t>(object) - heap::range_of(where).begin) /
         base::kPageBytes;
}

TEST(PageUses, AddsBytesUpToAPage) {
  page_uses uses;
  uses.add_used(kHot, 7, 1000);
  uses.add_used(kHot, 7, 500);
  uses.add_used(kHot, 8, 70'000);
  EXPECT_EQ(uses.of(kHot, 7).used_bytes, 1500);
  EXPECT_EQ(uses.of(kHot, 8).used_bytes, base::kPageBytes);
  EXPECT_EQ(uses.of(kHot, 6).used_bytes, 0);
  EXPECT_EQ(uses.of(kHot, std::uint64_t{1} << 40).used_bytes, 0);
  EXPECT_EQ(uses.of(kNew, 7).used_bytes, 0);
}

TEST(PageUses, KeepsTheHighestRateOfEachPageOfAnObject) {
  page_uses uses;
  const std::uintptr_t begin = heap::range_of(kHot).begin;
  const auto add = [&](std::uintptr_t offset, std::size_t bytes, rate of_use) {
    uses.add_rate(guides::make_word(begin + offset, kHot, bytes), bytes, of_use);
  };
  add(16, 100, 500);
  add(160, 100, 300);
  add(base::kPageBytes - 512, 1024, 700);
  EXPECT_EQ(uses.of(kHot, 0).hottest, 700);
  EXPECT_EQ(uses.of(kHot, 1).hottest, 700);
  EXPECT_EQ(uses.of(kHot, 2).hottest, 0);
  add(4 * base::kPageBytes, std::size_t{1} << 20, 200);  // more than the largest class's least
  EXPECT_EQ(uses.of(kHot, 3).hottest, 0);
  for (std::uint64_t page = 4; page < 260; ++page) EXPECT_EQ(uses.of(kHot, page).hottest, 200);
  EXPECT_EQ(uses.of(kHot, 260).hottest, 0);
}

TEST(PageUses, TheBoundIsThatOfTheBestOrder) {
  EXPECT_EQ(page_uses().utilization_bound(), 0);
  const std::uintptr_t begin = heap::range_of(kHot).begin;
  // Sizes that are not those of their classes too.
  for (const std::size_t bytes : {1024u, 1032u, 1500u}) {
    const guides::word object = guides::make_word(begin + 16, kHot, bytes);
    page_uses always, seldom;
    for (int i = 0; i < 1000; ++i) always.add_rate(object, bytes, kRates - 1);
    EXPECT_NEAR(always.utilization_bound(), 1, 0.03) << "what is always used fills its pages";
    for (int i = 0; i < 1000; ++i) seldom.add_rate(object, bytes, rate_of(1.0 / 256));
    EXPECT_NEAR(seldom.utilization_bound(), static_cast<double>(bytes) / base::kPageBytes, 0.01)
        << "one object of a page, at a time";
  }
}

TEST(PageWatch, RecordsOnlyWhatSomebodyAsksFor) {
  page_watch watch;
  EXPECT_EQ(watch.begin_window(), nullptr);
  EXPECT_EQ(watch.look(), nullptr);
  const auto filled = watch.begin_window();
  ASSERT_NE(filled, nullptr);
  EXPECT_EQ(watch.look(), nullptr) << "the window has not ended";
  watch.end_window(filled);
  EXPECT_EQ(watch.look(), filled);
}

class PagesOfACollector : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 40; ++i) held_.emplace_back(make_bytes(std::string(1000, 'x')));
    collector_.run_window();
  }
  const void* use(int i) {
    const scope inside;
    return held_[static_cast<std::size_t>(i)].get(inside);
  }
  std::vector<guide<bytes>> held_;
  object_collector collector_{{.manage = mode::track, .policy = policy_name::published}};
};

TEST_F(PagesOfACollector, AWindowTellsTheBytesUsedOfAPage) {
  EXPECT_EQ(collector_.last_page_uses(), nullptr);
  const void* const object = use(3);
  const auto seen = collector_.run_window();
  const auto uses = collector_.last_page_uses();
  ASSERT_NE(uses, nullptr);
  EXPECT_EQ(uses->window(), seen.window);
  const std::uint64_t page = page_of(kNew, object);
  std::uint64_t used = 0;
  for (std::uint64_t at = 0; at < page + 20; ++at) used += uses->of(kNew, at).used_bytes;
  EXPECT_EQ(used, seen.accessed_bytes);
  EXPECT_GT(uses->of(kNew, page).used_bytes, 0);
  EXPECT_EQ(uses->of(kNew, page).hottest, rate_of(1));
  EXPECT_EQ(uses->of(kNew, page + 5).hottest, rate_of(1.0 / 3)) << "not used in two windows";
}

TEST_F(PagesOfACollector, ObjectsOfAPageAreThoseThatLieInIt) {
  const void* const object = use(3);
  const std::uint64_t page = page_of(kNew, object);
  const std::uintptr_t begin = heap::range_of(kNew).begin + page * base::kPageBytes;
  const auto found = collector_.objects_in({begin, begin + base::kPageBytes});
  ASSERT_TRUE(found);
  EXPECT_GE(found->size(), 4u);
  EXPECT_LE(found->size(), 5u);
  for (const seen_object& each : *found) {
    EXPECT_LT(each.address, begin + base::kPageBytes);
    EXPECT_GT(each.address + each.bytes, begin);
    EXPECT_EQ(each.bytes, 1000U);
    EXPECT_EQ(each.was_used, each.address == reinterpret_cast<std::uintptr_t>(object));
  }
  const auto none = collector_.objects_in({begin + (1 << 20), begin + (1 << 20) + 4096});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST_F(PagesOfACollector, AllPagesOfALargeObjectHaveItsRate) {
  const guide<bytes> large(make_bytes(std::string(10 * base::kPageBytes, 'x')));
  collector_.last_page_uses();
  const void* object = nullptr;
  {
    const scope inside;
    object = large.get(inside);
  }
  collector_.run_window();
  const auto uses = collector_.last_page_uses();
  ASSERT_NE(uses, nullptr);
  const std::uint64_t first = page_of(kNew, object);
  for (std::uint64_t page = first; page < first + 10; ++page) {
    EXPECT_EQ(uses->of(kNew, page).hottest, rate_of(1)) << page - first;
  }
}

/// More guides than one piece of a search looks at.
class ManyGuides : public PagesOfACollector {
 protected:
  void SetUp() override {
    many_.reserve(kGuides);
    for (std::size_t i = 0; i < kGuides; ++i) many_.emplace_back(make_object_in<long>(kNew, 7));
    collector_.run_window();
  }
  /// The objects of NEW, or nothing.
  std::optional<std::size_t> count() {
    const auto found = collector_.objects_in(heap::range_of(kNew));
    return found ? std::optional(found->size()) : std::nullopt;
  }
  static constexpr std::size_t kGuides = 300'000;
  std::vector<guide<long>> many_;
};

TEST_F(ManyGuides, ASearchFindsAllObjectsPieceByPiece) { EXPECT_EQ(count(), kGuides); }

TEST_F(ManyGuides, ASearchBesideWindowsIsWholeOrNone) {
  const std::jthread other([&] {
    for (int i = 0; i < 8; ++i) collector_.run_window();
  });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(count().value_or(kGuides), kGuides);
}

TEST_F(PagesOfACollector, AskedDuringAWindowThereIsNoAnswer) {
  bool was_refused = false;
  object_collector other({.manage = mode::track, .policy = policy_name::published});
  other.on_window([&](const window_statistics&) { was_refused = !other.objects_in({0, 1}); });
  other.run_window();
  EXPECT_TRUE(was_refused);
}

}  // namespace
}  // namespace isotherm::collector
