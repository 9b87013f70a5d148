// Guides while operator new refuses. In a scope that counts, what cannot be listed for the scope to
// take back is pinned instead, and must not move. A program of its own for its operator new.
#include <gtest/gtest.h>

#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/anonymous_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/packed/extent.hpp"
#include "heap/ranges.hpp"
#include "sync/refusing_new.hpp"

namespace isotherm {
namespace {

using testing_help::refuses_memory;

[[maybe_unused]] const auto* const cold_is_anonymous = testing_help::with_anonymous_cold();

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

// The test says by hand that the object has left DRAM.
TEST(MissWithoutMemory, IsWaitedFor) {
  const guide<bytes> g(testing_help::bytes_in_cold("value"));
  auto& cold = heap::heaps().cold();
  const void* const object = guides::pointer_of(g.slot().load_relaxed());
  cold.mark_out(cold.place_of(object).offset / heap::kExtentBytes, 1);
  ASSERT_TRUE(heap::is_out(object));
  {
    access never(access::when_cold::record);
    refuses_memory = true;
    EXPECT_EQ(g.get(never), nullptr);
    refuses_memory = false;
    EXPECT_EQ(never.result(), access::outcome::must_wait);
  }
  const scope inside;
  refuses_memory = true;
  const auto found = g.try_get(inside);
  refuses_memory = false;
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, object);
}

}  // namespace
}  // namespace isotherm
