#include "server/timing/idle_order.hpp"

#include <gmock/gmock.h>

namespace isotherm::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IdleOrder, FindsTheUnusedLongestUnusedFirst) {
  idle_order order;
  const auto one = order.add(1, 100);
  const auto two = order.add(2, 101);
  order.add(3, 102);
  EXPECT_THAT(order.unused_since(100), IsEmpty());
  EXPECT_THAT(order.unused_since(103), ElementsAre(1, 2, 3));
  order.use(one, 110);
  EXPECT_THAT(order.unused_since(103), ElementsAre(2, 3));
  EXPECT_THAT(order.unused_since(111), ElementsAre(2, 3, 1));
  order.remove(two);
  EXPECT_THAT(order.unused_since(111), ElementsAre(3, 1));
}

// The second entry, earlier than the first as none is in use, shows whether it was looked at.
TEST(IdleOrder, LooksNoFurtherThanTheFirstThatWasUsed) {
  idle_order order;
  order.add(1, 100);
  order.add(2, 1);
  EXPECT_THAT(order.unused_since(50), IsEmpty());
}

}  // namespace
}  // namespace isotherm::server
