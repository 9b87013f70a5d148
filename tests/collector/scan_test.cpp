// The scan's one attempt at a word: what the collector read may be old by the time it writes.
#include "collector/scan/ageing.hpp"
#include "collector/scan/choice.hpp"
#include "collector/scan/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kAnyBytes = ~std::uint64_t{0};

class Scan : public testing::Test {
 protected:
  void SetUp() override {
    chosen_.cold_threshold = 1;
    policy_->begin_ageing(chosen_);
  }
  guides::word word() const { return g_.slot().load_relaxed(); }
  guides::verdict age(guides::word seen) {
    ageing visitor(*policy_, counts_left::kept, pages_, order_, statistics_);
    return visitor.age(g_.slot(), seen);
  }
  void choose_all(std::size_t parts = 1) {
    guides::progress all;
    choose(*policy_, source_parts(parts), 0, {kAnyBytes}, all, candidates_);
    EXPECT_TRUE(all.is_over);
  }
  guide<bytes> g_{make_bytes("value")};
  options chosen_;
  std::unique_ptr<policy> policy_ = make_policy(policy_name::published);
  touched_pages pages_;
  hot_order order_;
  window_statistics statistics_;
  std::vector<candidate> candidates_;
};

TEST_F(Scan, AgesAndListsAWordThatIsStillWhatWasRead) {
  g_.slot().store_relaxed(guides::rested(word()));
  const guides::word seen = word();
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), guides::aged(seen));
  choose_all();
  ASSERT_EQ(candidates_.size(), 1u);
  EXPECT_EQ(candidates_[0].target.where, heap::kind::cold);
  EXPECT_EQ(candidates_[0].bytes, 5U);
}

TEST_F(Scan, ListsNoMoreOfColdThanHasRoom) {
  g_.reset();  // of NEW, it would be listed too
  std::vector<guide<bytes>> held;
  for (int i = 0; i < 100; ++i) {
    held.emplace_back(testing_help::bytes_in_cold(std::string(1000, 'x')));
    const scope inside;
    held.back().get(inside);
  }
  for (const std::uint64_t kept : {0, 30, 100}) {
    const std::uint64_t bytes = kept * heap::room_of(held[0].get(scope{}));
    guides::progress all;
    choose(*policy_, source_parts(1), 0, {bytes}, all, candidates_);
    const auto is_to_hot = [](const candidate& one) { return one.target.where == heap::kind::hot; };
    EXPECT_EQ(std::ranges::count_if(candidates_, is_to_hot), kept);
  }
}

TEST_F(Scan, ListsWhatComesBackForTheBandOfItsRate) {
  g_.reset();
  std::vector<guide<bytes>> held;
  for (int i = 0; i < 100; ++i) {
    held.emplace_back(testing_help::bytes_in_cold(std::string(1000, 'x')));
    const scope inside;
    held.back().get(inside);
  }
  const auto rates = make_policy(policy_name::budget);
  rates->begin_ageing(chosen_);
  ageing visitor(*rates, counts_left::kept, pages_, order_, statistics_);
  guides::visit_due(visitor);
  guides::progress all;
  choose(*rates, source_parts(1), 0, {kAnyBytes}, all, candidates_);
  EXPECT_EQ(candidates_.size(), held.size());
  for (const candidate& each : candidates_) {
    const guides::word now = each.slot->load_relaxed();  // with the use that brings it back
    EXPECT_LT(each.target.among, heap::kColdestBand);
    EXPECT_EQ(each.target.among, rates->band(now, std::nullopt));
  }
}

TEST_F(Scan, ListsWhatIsLeftInSparseExtentsOfHot) {
  std::vector<guide<bytes>> held;
  const auto fill = [&](std::size_t objects) {
    for (std::size_t i = 0; i < objects; ++i) {
      // Objects of 1 KiB with the header: 1,023 take an extent.
      held.emplace_back(make_bytes_in(heap::kind::hot, std::string(1016, 'x')));
    }
  };
  fill(4096);
  const auto list = [&] {
    std::size_t listed = 0;
    const auto sparse = heap::sparsest_of(heap::kind::hot, {.live_share = heap::kSparseShare});
    for (guides::progress so_far; !sparse.empty() && !so_far.is_over;) {
      find_hot_compactions(*policy_, sparse.front(), so_far, candidates_);
      for (const candidate& each : candidates_) EXPECT_EQ(each.target.where, heap::kind::hot);
      listed += candidates_.size();
    }
    return listed;
  };
  const std::size_t others = list();  // that earlier tests left
  // Two of three in the first half.
  for (std::size_t i = 0; i < 2048; ++i) {
    if (i % 3 != 0) held[i].reset();
  }
  heap::trim();
  const std::size_t listed = list() - others;
  EXPECT_GT(listed, 300u);
  EXPECT_LE(listed, 2048u / 3 + 1);
}

TEST_F(Scan, SkipsAWordThatWasUsedAfterItWasRead) {
  g_.slot().store_relaxed(guides::rested(word()));
  const guides::word seen = word();
  {
    const scope inside;
    g_.get(inside);
  }
  const guides::word used = word();
  ASSERT_NE(used, seen);
  // A second attempt would clear the accessed bit, or send a warm object to COLD (pitfall 6).
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), used);
}

TEST_F(Scan, SkipsAWordWhoseObjectWasReplacedAfterItWasRead) {
  const guides::word seen = word();
  const scope inside;
  EXPECT_TRUE(g_.replace(inside, make_bytes("other")));
  const guides::word replaced = word();
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), replaced);
}

TEST_F(Scan, ForgetsWhatAPassBeforeItListed) {
  g_.slot().store_relaxed(guides::aged(guides::rested(word())));
  for (int i = 0; i < 2; ++i) {
    choose_all();
    EXPECT_EQ(candidates_.size(), 1u);
  }
}

// Each object is in one part, however many parts there are: all are moved, and none twice.
TEST_F(Scan, EachObjectIsInOnePart) {
  std::vector<guide<bytes>> many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(make_bytes(std::string(5000, 'x')));
  for (auto& one : many) one.slot().store_relaxed(guides::aged(one.slot().load_relaxed()));
  for (const std::uint64_t count : {1, 2, 3, 7}) {
    const source_parts parts(count);
    std::set<guides::slot_word*> listed;
    const void* end_of_last = nullptr;
    for (std::uint64_t part = 0; part < count; ++part) {
      guides::progress all;
      choose(*policy_, parts, part, {kAnyBytes}, all, candidates_);
      const void* end = end_of_last;
      for (const candidate& one : candidates_) {
        EXPECT_TRUE(listed.insert(one.slot).second);
        const void* object = guides::pointer_of(one.slot->load_relaxed());
        EXPECT_GE(object, end_of_last) << "the extents of a part before are not empty yet";
        end = std::max(end, object);
      }
      end_of_last = end;
    }
    EXPECT_EQ(listed.size(), many.size() + 1) << count;
  }
}

// A first demotion finds everything: its list stays short, and each guide is seen once.
TEST_F(Scan, PausesWhenItsListIsFullAndGoesOnFromThere) {
  constexpr std::size_t kGuides = 10'000;
  std::vector<guide<bytes>> many;
  for (std::size_t i = 0; i < kGuides; ++i) many.emplace_back(make_bytes("one of many"));
  ageing visitor(*policy_, counts_left::kept, pages_, order_, statistics_);
  EXPECT_EQ(guides::visit_due(visitor), kGuides + 1);
  std::set<guides::slot_word*> listed;
  guides::progress so_far;
  for (int calls = 0; !so_far.is_over; ++calls) {
    ASSERT_LT(calls, 1000) << "it makes no progress";
    choose(*policy_, source_parts(1), 0,
           {.promotable_bytes = kAnyBytes, .list_bytes = 100 * sizeof(candidate)}, so_far,
           candidates_);
    EXPECT_LE(candidates_.size(), 100u);
    for (const candidate& one : candidates_) {
      EXPECT_TRUE(listed.insert(one.slot).second) << "a guide was seen twice";
    }
  }
  EXPECT_EQ(listed.size(), kGuides + 1);
}

}  // namespace
}  // namespace isotherm::collector
