// marked<T> is used as the pointer in whose place it stands, and pinned<T> as the one that a public
// operation would return.
#include "guide/marked.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "guide/pinned.hpp"
#include "guide/soda.hpp"
#include "sync/epoch.hpp"

namespace isotherm {
namespace {

struct record {
  int number;
};
struct node {
  marked<record> value;
};

TEST(Marked, IsUsedAsAPointer) {
  const scope inside;
  node n;
  EXPECT_FALSE(n.value);
  EXPECT_TRUE(n.value == nullptr);
  record* const made = make<record>(7);
  n.value = made;
  EXPECT_TRUE(n.value);
  EXPECT_TRUE(n.value == made);
  EXPECT_TRUE(n.value != nullptr);
  EXPECT_EQ(n.value->number, 7);
  (*n.value).number = 8;
  record* const read = n.value;
  EXPECT_EQ(read, made);
  EXPECT_EQ(read->number, 8);
  discard(n.value);
  EXPECT_TRUE(n.value == nullptr);
}

TEST(Marked, AScopeThatTracksCountsWhatItReads) {
  node n;
  {
    const scope inside;
    n.value = make<record>(7);
    EXPECT_EQ(n.value->number, 7);  // accessed from here on: read at once
  }
  const auto& slot = *reinterpret_cast<base::atomic<guides::word>*>(&n.value);
  guides::use_words_for(guides::word_use::counts);
  ASSERT_TRUE(sync::begin_migration_epoch(1'000'000));
  {
    const scope inside;
    EXPECT_EQ(n.value->number, 7);
    EXPECT_EQ(guides::count_of(slot.load_relaxed()), 1u);
  }
  EXPECT_EQ(guides::count_of(slot.load_relaxed()), 0u);
  sync::end_migration_epoch();
  guides::use_words_for(guides::word_use::history);
  discard(n.value);
}

TEST(Marked, IsUsedByBeingReadOrReplacedNotByBeingMade) {
  const scope inside;
  node n{make<record>(7)};
  auto& slot = *reinterpret_cast<base::atomic<guides::word>*>(&n.value);
  EXPECT_FALSE(guides::is_accessed(slot.load_relaxed()));
  record* const old = n.value;
  EXPECT_TRUE(guides::is_accessed(slot.load_relaxed()));
  slot.store_relaxed(guides::rested(slot.load_relaxed()));
  n.value = make<record>(8);
  EXPECT_TRUE(guides::is_accessed(slot.load_relaxed()));
  discard(old);
  discard(n.value);
}

TEST(Marked, KnowsItsSlotWhileItLives) {
  const scope inside;
  base::atomic<guides::word>* slot = nullptr;
  {
    node n{make<record>(7)};
    slot = reinterpret_cast<base::atomic<guides::word>*>(&n.value);
    EXPECT_TRUE(guides::is_registered(slot));
    discard(n.value);
  }
  EXPECT_FALSE(guides::is_registered(slot));
}

TEST(Marked, WhatItPointedToLivesOn) {
  const scope inside;
  record* first = nullptr;
  {
    node n{make<record>(7)};
    first = n.value;
    n.value = make<record>(8);
    EXPECT_EQ(first->number, 7);
    discard(first);
    first = n.value;
  }  // the node is gone, its object is not
  EXPECT_EQ(first->number, 8);
  node other{first};
  EXPECT_EQ(other.value->number, 8);
  discard(other.value);
}

TEST(Marked, IsHandedOver) {
  const scope inside;
  node one{make<record>(1)}, two{make<record>(2)};
  std::swap(one.value, two.value);
  EXPECT_EQ(one.value->number, 2);
  EXPECT_EQ(two.value->number, 1);
  discard(one.value);
  one.value = std::exchange(two.value, nullptr);
  EXPECT_TRUE(two.value == nullptr);
  EXPECT_EQ(one.value->number, 1);
  discard(one.value);
}

TEST(MarkedDeathTest, WhatMakeDidNotMakeIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  record ordinary{1};
  EXPECT_DEATH(
      {
        const scope inside;
        node n{&ordinary};
      },
      "not an object of these heaps");
}

TEST(Pinned, KeepsTheScopeOpen) {
  node n{make<record>(7)};
  {
    const auto found = [&] {
      const scope inside;
      return pinned<record>(n.value);
    }();
    EXPECT_TRUE(scope::is_open());
    EXPECT_EQ(found->number, 7);
    EXPECT_TRUE(found);
  }
  EXPECT_FALSE(scope::is_open());
  discard(n.value);
}

}  // namespace
}  // namespace isotherm
