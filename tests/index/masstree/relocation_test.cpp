// Nodes of masstree that move between fast and slow memory, put together by hand.
#include "index/masstree/relocation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "index/any_index.hpp"
#include "index/storage.hpp"
#include "placement/node_memory.hpp"
#include "placement/one_tier.hpp"
#include "sync/steps.hpp"

namespace isotherm::index::masstree_detail {
namespace {

using placement::relocation_result, placement::tier;

/// Makes a node fast where the single-boundary rule asks for it, and where the test does.
class least_placer final : public placement::placer {
 public:
  tier choose(std::size_t, const placement::node_place& place) noexcept override {
    const bool covers_fast = placement::is_fast(place.covers[0]);
    return is_fast || covers_fast ? tier::fast : tier::slow;
  }
  bool is_fast = true;
};

link copy_nothing(link leaf, tier) { return leaf; }
void settle_nothing(link, link) {}

/// A border node that leads to a layer of a top and two border nodes below it, all fast.
class MasstreeRelocation : public testing::Test {
 protected:
  static constexpr leaf_moves kNoMoves{&copy_nothing, &settle_nothing};
  static constexpr std::uint64_t kSlice = 7;

  MasstreeRelocation() {
    EXPECT_TRUE(placement::open_node_memory());
    top_ = memory().make_interior(version::kRoot, {});
    for (border*& each : borders_) {
      each = memory().make_border(0, kSlots, {});
      each->parent.store_release(top_);
    }
    borders_[0]->next.store_release(borders_[1]);
    borders_[1]->previous.store_release(borders_[0]);
    top_->children[0].store_release(borders_[0]);
    top_->insert(0, 100, borders_[1]);
    upper_ = memory().make_border(version::kRoot, kSlots, {});
    upper_->insert({kSlice, kGoesOn}, link_to(top_));
    first_.store_release(link_to(upper_));
  }
  ~MasstreeRelocation() override {
    for (void* each : {static_cast<void*>(top_), static_cast<void*>(upper_),
                       static_cast<void*>(borders_[0]), static_cast<void*>(borders_[1])}) {
      placement::deallocate_node(each);
    }
  }

  node_memory memory() { return {storage_, &kNoMoves}; }
  base::atomic<link>& link_to_layer() { return upper_->link_at(0); }

  least_placer placer_;
  const placed<unmanaged> storage_{placer_};
  interior* top_;
  border *borders_[2], *upper_;
  base::atomic<link> first_{0};
};

// The node that was the top once, and to which the link still leads, is about to be retired.
TEST_F(MasstreeRelocation, ALinkThatWasLeftBehindLeadsToTheTopBeforeANodeBelowItMoves) {
  link_to_layer().store_release(link_to(borders_[0]));
  void* const path[] = {upper_, top_, borders_[0]};
  const auto moved = relocate(first_, path, tier::slow, kNoMoves);
  ASSERT_EQ(moved.result, relocation_result::done);
  EXPECT_EQ(link_to_layer().load_acquire(), link_to(top_));
  borders_[0] = static_cast<border*>(moved.node);
  EXPECT_EQ(top_->children[0].load_acquire(), borders_[0]);
  EXPECT_EQ(borders_[1]->previous.load_acquire(), borders_[0]);
  EXPECT_EQ(borders_[0]->next.load_acquire(), borders_[1]);
}

TEST_F(MasstreeRelocation, ATopIsLinkedInItsPlaceAndItsChildrenKnowIt) {
  for (border*& each : borders_) {
    void* const path[] = {upper_, top_, each};
    each = static_cast<border*>(relocate(first_, path, tier::slow, kNoMoves).node);
  }
  void* const path[] = {upper_, top_};
  const auto moved = relocate(first_, path, tier::slow, kNoMoves);
  ASSERT_EQ(moved.result, relocation_result::done);
  top_ = static_cast<interior*>(moved.node);
  EXPECT_EQ(link_to_layer().load_acquire(), link_to(top_));
  for (const border* each : borders_) EXPECT_EQ(each->parent.load_acquire(), top_);
  EXPECT_TRUE(top_->state.now().is_root());
  EXPECT_EQ(relocate(first_, path, tier::slow, kNoMoves).result, relocation_result::changed);
}

TEST_F(MasstreeRelocation, ANodeThatLeadsToAFastLayerStaysFast) {
  void* const path[] = {upper_};
  EXPECT_EQ(relocate(first_, path, tier::slow, kNoMoves).result,
            relocation_result::covers_fast_node);
}

TEST_F(MasstreeRelocation, TheHalfThatTakesOverALinkToAFastLayerIsFast) {
  const scope inside;
  placer_.is_fast = false;
  for (std::uint64_t slice = 100; slice < 100 + 2 * kSlots; ++slice) {  // to the layer, by any way
    border* at = upper_;
    while (border* const after = at->next.load_acquire()) at = after;
    at->state.lock();
    insert_entry(at, {slice, kGoesOn}, link_to(borders_[0]), memory(), 0);
  }
  std::vector<void*> made;
  for (border* at = upper_->next.load_acquire(); at; at = at->next.load_acquire()) {
    EXPECT_TRUE(placement::is_fast(at));
    made.push_back(at);
  }
  EXPECT_GE(made.size(), 2U);
  made.push_back(upper_->parent.load_acquire());
  EXPECT_TRUE(placement::is_fast(made.back()));
  for (void* each : made) placement::deallocate_node(each);
}

#if defined(ISOTHERM_SANITIZED)

// A search that knows a former top climbs from it, and takes the copy for the layer's top.
TEST_F(MasstreeRelocation, ACopyIsWholeBeforeASearchCanClimbToIt) {
  for (border*& each : borders_) {
    void* const path[] = {upper_, top_, each};
    each = static_cast<border*>(relocate(first_, path, tier::slow, kNoMoves).node);
  }
  unsigned found = 0;
  const sync::at_steps hook([&](sync::step s, const void* where) {
    if (s != sync::step::copied_node || where != borders_[0]) return;
    version seen;
    unsigned level = 0;
    node* const top = climb(link_to_layer(), borders_[0], seen);
    EXPECT_EQ(try_descend(top, 100, seen, level), borders_[1]);
    ++found;
  });
  void* const path[] = {upper_, top_};
  const auto moved = relocate(first_, path, tier::slow, kNoMoves);
  ASSERT_EQ(moved.result, relocation_result::done);
  top_ = static_cast<interior*>(moved.node);
  EXPECT_EQ(found, 1U);
}

// A layer goes while a walk is in it, and the slot that led to it leads to a leaf.
TEST(MasstreeWalk, GoesOnWhereALayerHasGone) {
  ASSERT_TRUE(placement::open_node_memory());
  testing_help::one_tier slow(tier::slow);
  auto made = make_placed("masstree", management::off, slow);
  ASSERT_TRUE(made);
  any_index& index = *made->index;
  const std::string prefix = "AAAAAAAA";
  for (const char* end : {"first", "second"}) index.insert(prefix + end, "value");
  for (char c = 'a'; c < 'a' + 14; ++c) index.insert(std::string(1, c), "value");
  const sync::scope inside;
  std::vector<void*> leaves;
  unsigned walked_to = 0;
  {
    const sync::at_steps hook([&](sync::step s, const void*) {
      if (s != sync::step::walked_to || ++walked_to != 2) return;  // the layer's node
      for (const char* end : {"first", "second"}) index.erase(prefix + end);
      index.insert("z", "value");
    });
    std::string cursor = prefix + "first";
    made->nodes->visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
      leaves.push_back(leaf.path.back());
      EXPECT_EQ(leaf.path.size(), 1U);
      return true;
    });
  }
  EXPECT_GT(walked_to, 2U) << "and sought again";
  EXPECT_EQ(leaves.size(), 1U);
}

#endif

}  // namespace
}  // namespace isotherm::index::masstree_detail
