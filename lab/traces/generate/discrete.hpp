// A choice among few things, each with a weight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/random.hpp"

namespace isotherm::traces {

/// Draws indexes 0 .. weights - 1 with the given weights, which are not negative, by a binary
/// search. Requires: a weight is greater than 0.
class discrete {
 public:
  explicit discrete(std::vector<double> weights) : up_to_(std::move(weights)) {
    for (std::size_t i = 1; i < up_to_.size(); ++i) up_to_[i] += up_to_[i - 1];
  }

  std::size_t operator()(base::random& random) const noexcept { return at(random.unit()); }
  /// The index of a point, 0 <= `share` < 1, of all weights side by side.
  std::size_t at(double share) const noexcept {
    const auto found = std::ranges::upper_bound(up_to_, share * up_to_.back());
    return std::min(static_cast<std::size_t>(found - up_to_.begin()), up_to_.size() - 1);
  }

 private:
  std::vector<double> up_to_;
};

}  // namespace isotherm::traces
