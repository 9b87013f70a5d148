// A placer decides where the nodes of a tree are made.
#pragma once

#include <cstddef>

#include "placement/tier.hpp"

namespace isotherm::placement {

class placer {
 public:
  virtual ~placer() = default;
  /// The tier for a node of `bytes`. Any thread, for each node made; must not wait.
  virtual tier choose(std::size_t bytes, const node_place& place) noexcept = 0;
};

}  // namespace isotherm::placement
