#include "lab/tiers/page_policies.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace isotherm::lab {
namespace {

using placement::tier;

constexpr std::uint64_t kPages = 1000;

class PagePolicy : public ::testing::Test {
 protected:
  void begin(std::unique_ptr<page_policy> policy, std::uint64_t room) {
    policy_ = std::move(policy);
    tiers_ = std::make_unique<page_tiers>(all_.get(), room);
    for (std::uint64_t page = 0; page < kPages; ++page) {
      tiers_->add(policy_->first_tier(*tiers_, page));
    }
  }
  void use(std::uint64_t page, unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) all_[page].uses.add();
  }
  void tick(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) policy_->tick(*tiers_);
  }
  bool is_fast(std::uint64_t page) const { return !all_[page].is_slow.load_relaxed(); }
  std::uint64_t fast_between(std::uint64_t begin, std::uint64_t end) const {
    std::uint64_t fast = 0;
    for (; begin < end; ++begin) fast += is_fast(begin) ? 1 : 0;
    return fast;
  }
  /// Expects the tiers to count what the pages say.
  void expect_counted() const { EXPECT_EQ(tiers_->fast_pages(), fast_between(0, kPages)); }

  std::unique_ptr<emulated_page[]> all_{new emulated_page[kPages]};
  std::unique_ptr<page_policy> policy_;
  std::unique_ptr<page_tiers> tiers_;
};

TEST_F(PagePolicy, MovingAPageWhereItIsMovesNothing) {
  begin(make_tpp_policy(), kPages);
  tiers_->move(3, tier::fast);
  EXPECT_EQ(tiers_->moved(), 0u);
  tiers_->move(3, tier::slow);
  tiers_->move(3, tier::slow);
  EXPECT_EQ(tiers_->moved(), 1u);
  EXPECT_EQ(tiers_->free_pages(), 1u);
  expect_counted();
}

TEST_F(PagePolicy, MoreFastPagesThanFitLeaveNoRoom) {
  begin(make_interleave_policy(kPages), 0);
  tiers_->move(0, tier::fast);
  EXPECT_EQ(tiers_->free_pages(), 0u);
}

TEST_F(PagePolicy, InterleavingSpreadsTheShareThatFits) {
  begin(make_interleave_policy(kPages), kPages / 4);
  for (std::uint64_t at = 0; at < kPages; at += 100) EXPECT_EQ(fast_between(at, at + 100), 25u);
  expect_counted();
  use(0, 100);
  tick(40);
  EXPECT_EQ(tiers_->moved(), 0u);
}

TEST_F(PagePolicy, InterleavingMakesAllFastWhereAllFit) {
  begin(make_interleave_policy(kPages), 2 * kPages);
  EXPECT_EQ(tiers_->fast_pages(), kPages);
  begin(make_interleave_policy(kPages), 0);
  EXPECT_EQ(fast_between(0, kPages), 0u);
}

TEST_F(PagePolicy, TppFillsFastMemoryFirst) {
  begin(make_tpp_policy(), 100);
  EXPECT_EQ(fast_between(0, 100), 100u);
  EXPECT_EQ(tiers_->fast_pages(), 100u);
}

TEST_F(PagePolicy, TppKeepsRoomFreeByWhatIsNotUsed) {
  begin(make_tpp_policy(), 100);
  for (unsigned look = 0; look < 3; ++look) {
    for (std::uint64_t page = 0; page < 50; ++page) use(page);
    tick(10);
  }
  EXPECT_EQ(tiers_->free_pages(), 2u) << "a fiftieth, and no more";
  EXPECT_EQ(fast_between(0, 50), 50u) << "what is used stays";
}

TEST_F(PagePolicy, TppPromotesWhatTwoLooksInARowFoundUsed) {
  begin(make_tpp_policy(), 100);
  use(500);
  tick(20);
  EXPECT_FALSE(is_fast(500)) << "used once";
  use(500);
  tick(10);
  EXPECT_FALSE(is_fast(500)) << "not in the look before";
  use(500);
  tick(10);
  EXPECT_TRUE(is_fast(500));
  expect_counted();
}

TEST_F(PagePolicy, TppNeverUsesMoreThanThereIs) {
  begin(make_tpp_policy(), 100);
  for (unsigned look = 0; look < 5; ++look) {
    for (std::uint64_t page = 0; page < kPages; ++page) use(page);
    tick(10);
    EXPECT_LE(tiers_->fast_pages(), 100u);
  }
}

TEST_F(PagePolicy, MemtisExchangesWhatIsUsedMostForWhatIsUsedLess) {
  begin(make_memtis_policy(kPages), 100);
  for (std::uint64_t page = 300; page < 400; ++page) use(page, 64);
  tick(4);
  EXPECT_EQ(tiers_->moved(), 0u) << "each fifth tick";
  tick();
  EXPECT_EQ(fast_between(300, 400), 100u);
  EXPECT_EQ(tiers_->fast_pages(), 100u);
  const std::uint64_t moved = tiers_->moved();
  tick(5);
  EXPECT_EQ(tiers_->moved(), moved) << "they are there";
}

TEST_F(PagePolicy, MemtisHalvesTheCountsEachTwentiethTick) {
  begin(make_memtis_policy(kPages), 100);
  use(7, 40);
  tick(19);
  EXPECT_EQ(all_[7].uses.value(), 40u);
  tick();
  EXPECT_EQ(all_[7].uses.value(), 20u);
}

TEST_F(PagePolicy, CaptionKeepsAtLeastSoManySlowAsDoNotFit) {
  begin(make_caption_policy(kPages), 300);
  for (unsigned step = 0; step < 30; ++step) {
    use(step % kPages, 10 * (step + 1));
    tick(10);
    EXPECT_LE(tiers_->fast_pages(), 300u);
  }
  expect_counted();
}

TEST_F(PagePolicy, CaptionGoesOnWhileMoreIsTouchedAndTurnsWhereLessIs) {
  begin(make_caption_policy(kPages), kPages);
  const auto fast_after_a_step = [this](unsigned touches) {
    use(0, touches);
    tick(10);
    return tiers_->fast_pages();
  };
  EXPECT_EQ(fast_after_a_step(100), kPages * 9 / 10);
  EXPECT_EQ(fast_after_a_step(200), kPages * 8 / 10);
  const std::uint64_t turned = fast_after_a_step(50);
  EXPECT_NEAR(static_cast<double>(turned), kPages * 0.85, 1) << "back, by half as much";
}

TEST_F(PagePolicy, NoPageIsNoTrouble) {
  for (auto make : {make_interleave_policy, make_memtis_policy, make_caption_policy}) {
    const auto policy = make(0);
    page_tiers none(all_.get(), 10);
    for (unsigned i = 0; i < 20; ++i) policy->tick(none);
    EXPECT_EQ(none.fast_pages(), 0u);
  }
}

}  // namespace
}  // namespace isotherm::lab
