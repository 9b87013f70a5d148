#include "sync/scope.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "sync/epoch.hpp"

namespace isotherm::sync {
namespace {

TEST(Scope, OnlyTheOutermostCounts) {
  EXPECT_FALSE(scope::is_open());
  {
    const scope outer;
    const std::uint64_t entered = outer.slot().entered.load_relaxed();
    EXPECT_NE(entered, 0u);
    {
      const scope inner;
      EXPECT_EQ(&inner.slot(), &outer.slot());
    }
    EXPECT_TRUE(scope::is_open());
    EXPECT_EQ(outer.slot().entered.load_relaxed(), entered);
  }
  EXPECT_FALSE(scope::is_open());
  EXPECT_EQ(this_thread_slot->entered.load_relaxed(), 0u);
}

TEST(Scope, PublishesTheEpochItEnteredIn) {
  const std::uint64_t epoch = advance_epoch();
  const scope inside;
  EXPECT_EQ(inside.slot().entered.load_relaxed(), epoch + 1);
  EXPECT_EQ(oldest_open_epoch(epoch + 10), epoch);
}

std::size_t slots_in_use() {
  std::size_t slots_ever = 0;
  slots.for_each([&slots_ever](thread_slot&) { ++slots_ever; });
  return slots_ever;
}

TEST(Scope, ThreadsGiveTheirSlotsBack) {
  std::thread([] { const scope inside; }).join();
  const std::size_t before = slots_in_use();
  for (int i = 0; i < 100; ++i) std::thread([] { const scope inside; }).join();
  EXPECT_EQ(slots_in_use(), before);
}

struct uses_a_scope_when_destroyed {
  ~uses_a_scope_when_destroyed() { const scope inside; }
};

TEST(Scope, DestructorsAtThreadExitMayUseScopes) {
  // Objects of a thread are destroyed in reverse order: this one, made before the thread's first
  // scope, is destroyed after whatever that scope made. No slot may stay behind.
  std::thread([] { const scope inside; }).join();
  const std::size_t before = slots_in_use();
  for (int i = 0; i < 100; ++i) {
    std::thread([] {
      static thread_local const uses_a_scope_when_destroyed late;
      [[maybe_unused]] const void* made_now = &late;
      const scope inside;
    }).join();
  }
  EXPECT_EQ(slots_in_use(), before);
}

TEST(Scope, ThreadsHaveDifferentSlots) {
  const scope mine;
  std::thread([&mine] {
    const scope other;
    EXPECT_NE(&other.slot(), &mine.slot());
  }).join();
}

TEST(CountedSet, DrainsEachMemberOnce) {
  counted_set set;
  std::vector<int> members(1000);
  for (int& member : members) {
    EXPECT_TRUE(set.insert(&member));
    EXPECT_FALSE(set.insert(&member));
  }
  set.erase(&members[3]);
  set.drain([](void* member) noexcept { ++*static_cast<int*>(member); });
  for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(members[i], i == 3 ? 0 : 1);
  set.drain([](void*) noexcept { FAIL() << "drained twice"; });
  EXPECT_TRUE(set.insert(&members[0]));
}

}  // namespace
}  // namespace isotherm::sync
