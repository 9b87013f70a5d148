// Guides while operator new refuses. In a scope that counts, what cannot be listed for the scope to
// take back is pinned instead, and must not move. A program of its own for its operator new.
#include <gtest/gtest.h>

#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/misses.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "heap/readable.hpp"
#include "sync/refusing_new.hpp"

namespace isotherm {
namespace {

using testing_help::refuses_memory;

class GuideWithoutMemory : public testing::Test {
 protected:
  void SetUp() override {
    guides::use_words_for(guides::word_use::counts);
    ASSERT_TRUE(sync::begin_migration_epoch(1'000'000));
  }
  void TearDown() override { sync::end_migration_epoch(); }
  unsigned count() const { return guides::count_of(g_.slot().load_relaxed()); }
  guide<bytes> g_{make_bytes("value")};
};

TEST_F(GuideWithoutMemory, ADereferencePins) {
  {
    const scope inside;
    ASSERT_TRUE(inside.is_tracking());
    refuses_memory = true;
    const bytes* const found = g_.get(inside);
    refuses_memory = false;
    EXPECT_EQ(found->view(), "value");
    EXPECT_EQ(count(), guides::kCountCeiling);
    EXPECT_TRUE(guides::is_accessed(g_.slot().load_relaxed()));
  }
  EXPECT_EQ(count(), guides::kCountCeiling) << "the scan takes it back";
}

TEST_F(GuideWithoutMemory, AnObjectIsPinnedForItsMaker) {
  const sync::moving_guard moving;
  const scope inside;
  owned<bytes> next = make_bytes("other");
  const bytes* const made = next.get();
  refuses_memory = true;
  const bool is_replaced = g_.replace(inside, std::move(next));
  refuses_memory = false;
  ASSERT_TRUE(is_replaced);
  EXPECT_TRUE(g_.holds(made));
  EXPECT_EQ(count(), guides::kCountCeiling);
}

// That the object has left DRAM is said by hand.
TEST(MissWithoutMemory, IsWaitedFor) {
  const guide<bytes> g(testing_help::bytes_in_cold("value"));
  auto& cold = heap::heaps().packed(heap::kind::cold);
  const void* const object = guides::pointer_of(g.slot().load_relaxed());
  cold.mark_out(cold.place_of(object).offset / heap::kExtentBytes, 1);
  ASSERT_TRUE(heap::is_out(object));
  const heap::arrived_reads nothing;
  const scope inside;
  const heap::read_watch reads;
  {
    const heap::miss_watch never(nothing, heap::miss_watch::copies::allowed,
                                 heap::miss_watch::missing::never_waited_for);
    refuses_memory = true;
    EXPECT_EQ(g.get(inside), nullptr);
    refuses_memory = false;
    EXPECT_TRUE(never.must_wait());
  }
  reads.forgive();
  const heap::miss_watch watch(nothing, heap::miss_watch::copies::allowed);
  refuses_memory = true;
  const bytes* const found = g.get(inside);
  refuses_memory = false;
  EXPECT_EQ(found, object);
  EXPECT_FALSE(reads.has_lost());
  EXPECT_FALSE(watch.has_missed());
}

}  // namespace
}  // namespace isotherm
