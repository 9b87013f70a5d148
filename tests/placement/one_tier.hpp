// A placer for tests that choose the tier of all nodes of a tree.
#pragma once

#include "placement/placer.hpp"

namespace isotherm::testing_help {

/// Makes every node in the same tier. Owned by one thread.
class one_tier final : public placement::placer {
 public:
  explicit one_tier(placement::tier where) noexcept : where_(where) {}
  placement::tier choose(std::size_t, const placement::node_place&) noexcept override {
    return where_;
  }

 private:
  const placement::tier where_;
};

}  // namespace isotherm::testing_help
