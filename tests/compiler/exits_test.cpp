// A scope closes whichever way a method is left. A test fails if it stays open, or was missing.
#include "exits.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <thread>

namespace exits {

int call_shared_by_address(structure& of) {
  int (structure::* volatile how)() = &structure::shared;
  return (of.*how)();
}

namespace {

TEST(Exits, Straight) {
  structure under_test;
  EXPECT_EQ(under_test.straight(), 7);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, EarlyReturn) {
  structure under_test;
  EXPECT_EQ(under_test.early(7), 1);
  EXPECT_EQ(under_test.early(8), -1);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Throw) {
  structure under_test;
  EXPECT_THROW(under_test.throws(), std::runtime_error);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, ThrowInCallee) {
  structure under_test;
  EXPECT_THROW(under_test.throws_in_callee(), std::runtime_error);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Catch) {
  structure under_test;
  EXPECT_EQ(under_test.catches(), 1);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, CatchOfAnother) {
  structure under_test;
  EXPECT_THROW(under_test.catches_another(), std::runtime_error);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Rethrow) {
  structure under_test;
  EXPECT_THROW(under_test.rethrows(), std::runtime_error);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, ThrowPastLocals) {
  structure under_test;
  int seen = -1;
  EXPECT_THROW(under_test.throws_with_locals(seen), std::runtime_error);
  EXPECT_EQ(seen, 1);  // the destructor runs inside the scope
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Noexcept) {
  structure under_test;
  EXPECT_EQ(under_test.never_throws(), 8);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, TailCall) {
  structure under_test;
  EXPECT_EQ(under_test.calls_last(3), 13);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, MustTailCalleeHasItsOwn) {
  structure under_test;
  EXPECT_EQ(structure::replaced(under_test, 3), 121);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, NoReturn) {
  structure under_test;
  EXPECT_THROW(under_test.never_returns(), std::runtime_error);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, ThrowingConstructor) {
  EXPECT_EQ(structure(4).straight(), 4);
  EXPECT_THROW(structure(-1), std::invalid_argument);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Virtual) {
  derived other;
  structure& as_base = other;
  EXPECT_EQ(as_base.overridden(), 8);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Static) {
  structure under_test;
  EXPECT_EQ(structure::of(under_test), 8);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, CallerOfPublicMethodsNeedsNone) {
  structure under_test;
  EXPECT_EQ(under_test.nested(), 7);
}
TEST(Exits, PrivateMethodAndLambdaAreCovered) {
  structure under_test;
  EXPECT_EQ(under_test.inner(), 71);
  EXPECT_EQ(under_test.lambda(), 71);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, InlineMethodThatOneFileCallsInScopesAndOneByItsAddress) {
  structure under_test;
  EXPECT_EQ(under_test.calls_shared(), 71);
  EXPECT_EQ(call_shared_by_address(under_test), 71);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, NothingWhereNothingIsTouched) {
  structure under_test;
  EXPECT_EQ(under_test.untouched(), 0);
}
TEST(Exits, FreeFunction) {
  holder held;
  EXPECT_EQ(free_function(held.at), 6);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, CallOfAnInsideFunctionOfAnotherFile) {
  holder held;
  EXPECT_EQ(calls_inside(held.at), 15);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, LambdaThatIsCalledFromOutside) {
  holder held;
  int seen = 0;
  std::thread([&] { seen = held.at.value->number + 10 * depth(); }).join();
  EXPECT_EQ(seen, 15);
  const std::function<int()> later = [&] { return held.at.value->number + 10 * depth(); };
  EXPECT_EQ(later(), 15);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Destructor) {
  int seen = 0;
  {
    const destroyed ends(seen);
  }
  EXPECT_EQ(seen, 13);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Figure55) {
  figure_5_5 map(1);
  std::ostringstream written;
  map.get(written);
  map.get(written);  // returns early
  EXPECT_EQ(written.str(), "Value: *1\n");
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, Figure55WhereWritingFails) {
  struct : std::streambuf {
  } full;
  std::ostream to(&full);
  to.exceptions(std::ios::badbit);
  figure_5_5 map(1);
  EXPECT_THROW(map.get(to), std::ios::failure);
  EXPECT_EQ(depth(), 0);
}
TEST(Exits, ThreadThatEndsInside) {
  int seen = -1;
  std::thread([&seen] {
    const at_end outermost{seen};
    structure inside;
    inside.ends_thread();
  }).join();
  EXPECT_EQ(seen, 0);
}

}  // namespace
}  // namespace exits
