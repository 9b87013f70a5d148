#include "base/sharded_counter.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace isotherm::base {
namespace {

TEST(ShardedCounter, AddsUpWhatManyThreadsAdd) {
  sharded_counter counter;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 20; ++t) {  // more than there are shards
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) counter.add(i % 4 == 3 ? -1 : 1);
      });
    }
  }
  EXPECT_EQ(counter.sum(), 20u * 500u);
  counter.reset();
  EXPECT_EQ(counter.sum(), 0u);
}

TEST(ShardedCounter, ANumberBelowZeroIsNone) {
  sharded_counter counter;
  EXPECT_EQ(counter.add(-3), -3);
  EXPECT_EQ(counter.add(1), -2) << "of one thread";
  EXPECT_EQ(counter.sum(), 0u);
}

}  // namespace
}  // namespace isotherm::base
