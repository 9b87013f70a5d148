// Call stacks that are followed call by call, against a plain stack of the simulated thread.
#include "pages/objects/call_stack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "base/random.hpp"

namespace isotherm::pages {
namespace {

instruction kind(std::initializer_list<unsigned char> code) {
  return kind_of(code.begin(), code.size());
}

TEST(Instructions, AreKnownByTheirCode) {
  EXPECT_EQ(kind({0xe8, 1, 2, 3, 4}), instruction::call);         // call to a place
  EXPECT_EQ(kind({0xff, 0xd0}), instruction::call);               // call *%rax
  EXPECT_EQ(kind({0x41, 0xff, 0xd4}), instruction::call);         // call *%r12
  EXPECT_EQ(kind({0xff, 0x15, 1, 2, 3, 4}), instruction::call);   // call *N(%rip)
  EXPECT_EQ(kind({0x3e, 0xff, 0xd0}), instruction::call);         // notrack call *%rax
  EXPECT_EQ(kind({0x67, 0xe8, 1, 2, 3, 4}), instruction::call);   // addr32 call, of linkers
  EXPECT_EQ(kind({0xff, 0x25, 1, 2, 3, 4}), instruction::other);  // jmp *N(%rip)
  EXPECT_EQ(kind({0xff, 0x35, 1, 2, 3, 4}), instruction::other);  // push N(%rip)
  EXPECT_EQ(kind({0xe9, 1, 2, 3, 4}), instruction::other);        // jmp
  EXPECT_EQ(kind({0x48, 0x89, 0xe8}), instruction::other);        // mov %rbp,%rax
  EXPECT_EQ(kind({0xc3}), instruction::ret);
  EXPECT_EQ(kind({0xf3, 0xc3}), instruction::ret);  // repz ret
  EXPECT_EQ(kind({0xc2, 8, 0}), instruction::ret);  // ret and drop arguments
  EXPECT_EQ(kind({0x66}), instruction::other);
  EXPECT_EQ(kind({0xff}), instruction::other);
}

std::vector<std::uint64_t> frames_of(call_stack& stack, std::uint64_t place) {
  std::array<std::uint64_t, 4> frames{};
  const unsigned count = stack.copy(place, frames.data(), frames.size());
  return {frames.begin(), frames.begin() + count};
}

struct frame {
  std::uint64_t place, returns_to;
};

std::vector<std::uint64_t> innermost(const std::vector<frame>& real) {
  std::vector<std::uint64_t> expected;
  for (auto f = real.rbegin(); f != real.rend() && expected.size() < 4; ++f) {
    expected.push_back(f->returns_to);
  }
  return expected;
}

TEST(CallStack, FollowsCallsAndReturns) {
  const std::uint64_t seed = 20261130;
  SCOPED_TRACE(seed);
  base::random random(seed);
  const auto stack = std::make_unique<call_stack>();
  std::vector<frame> real;
  for (std::uint64_t step = 1; step < 20'000; ++step) {
    for (std::uint64_t out = random.below(4); out > 0 && !real.empty(); --out) {
      stack->ret(real.back().place);
      real.pop_back();
    }
    const std::uint64_t top = real.empty() ? 1 << 20 : real.back().place;
    real.push_back({top - 8 * (1 + random.below(20)), step});
    stack->call(real.back().place, step);
    ASSERT_EQ(frames_of(*stack, real.back().place), innermost(real));
  }
}

TEST(CallStack, DropsFramesThatAnExceptionHasLeft) {
  const auto stack = std::make_unique<call_stack>();
  stack->call(1000, 1);
  stack->call(900, 2);
  stack->call(800, 3);
  stack->call(900, 4);  // by the function of frame 1000, which has caught it
  EXPECT_EQ(frames_of(*stack, 900), (std::vector<std::uint64_t>{4, 1}));
  stack->call(800, 5);
  stack->ret(1000);
  EXPECT_TRUE(frames_of(*stack, 1000).empty());
}

TEST(CallStack, AFunctionThatWasJumpedToHasItsCallersFrame) {
  const auto stack = std::make_unique<call_stack>();
  stack->call(1000, 1);
  stack->call(900, 2);
  stack->call(800, 3);  // it has returned, and the function of frame 900 jumps on
  EXPECT_EQ(frames_of(*stack, 900), (std::vector<std::uint64_t>{2, 1}));
}

TEST(CallStack, KeepsTheInnerFramesOfADeepRecursion) {
  const auto stack = std::make_unique<call_stack>();
  for (std::uint64_t i = 0; i < 100'000; ++i) stack->call(10'000'000 - 16 * i, i);
  EXPECT_EQ(frames_of(*stack, 0), (std::vector<std::uint64_t>{99'999, 99'998, 99'997, 99'996}));
  stack->clear();
  EXPECT_TRUE(frames_of(*stack, 0).empty());
}

}  // namespace
}  // namespace isotherm::pages
