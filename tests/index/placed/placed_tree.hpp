// Trees whose nodes are placed in fast and slow memory, for tests: every kind of them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "index/any_index.hpp"
#include "index/placed/node_mover.hpp"
#include "placement/node_memory.hpp"

namespace isotherm::index {

/// Keys of 1 to some 20 bytes, many of which share prefixes.
inline std::string placed_key(std::uint64_t i) {
  const std::uint64_t mixed = base::mix64(i);
  return std::string(mixed % 4, 'p') + std::to_string(mixed % 1'000'000) +
         std::string(mixed % 7, static_cast<char>(mixed % 3));
}

inline void reclaim_all() {
  for (int i = 0; i < 8 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
}

inline auto placed_kinds() {
  return testing::Combine(testing::ValuesIn(placed_names()),
                          testing::Values(management::off, management::on));
}

class placed_tree_test : public testing::TestWithParam<index_kind> {
 protected:
  placed_tree_test() : seed_(test_seed()), placer_(seed_) {
    EXPECT_TRUE(placement::open_node_memory());
    reclaim_all();
    fast_before_ = placement::used_bytes(placement::tier::fast);
    slow_before_ = placement::used_bytes(placement::tier::slow);
    make_with(placer_);
  }
  void make_with(placement::placer& chooser) {
    tree_.index.reset();
    auto made = make_placed(std::get<0>(GetParam()), std::get<1>(GetParam()), chooser);
    EXPECT_TRUE(made);
    tree_ = std::move(*made);
  }
  /// Expects that the tiers have their memory back when the tree is gone.
  void expect_nothing_left() {
    tree_.index.reset();
    reclaim_all();
    EXPECT_EQ(placement::used_bytes(placement::tier::fast), fast_before_);
    EXPECT_EQ(placement::used_bytes(placement::tier::slow), slow_before_);
  }
  any_index& index() { return *tree_.index; }

  const std::uint64_t seed_;
  random_placer placer_;
  placed_index tree_;
  std::uint64_t fast_before_ = 0, slow_before_ = 0;
};

}  // namespace isotherm::index
