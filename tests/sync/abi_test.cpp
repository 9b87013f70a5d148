// The C hooks open and close the same scopes as sync::scope.
#include "sync/abi.hpp"

#include <gtest/gtest.h>

namespace isotherm::sync {
namespace {

TEST(Abi, HooksAndScopesNest) {
  EXPECT_FALSE(scope::is_open());
  isotherm_enter_scope();
  EXPECT_TRUE(scope::is_open());
  {
    const scope inner;
    isotherm_enter_scope();
    isotherm_leave_scope();
    EXPECT_TRUE(scope::is_open());
  }
  EXPECT_TRUE(scope::is_open());
  isotherm_leave_scope();
  EXPECT_FALSE(scope::is_open());
}

TEST(Abi, AnOpenHookHoldsUpTheCollector) {
  isotherm_enter_scope();
  EXPECT_NE(this_thread_slot->entered.load_acquire(), 0);
  isotherm_leave_scope();
  EXPECT_EQ(this_thread_slot->entered.load_acquire(), 0);
}

}  // namespace
}  // namespace isotherm::sync
