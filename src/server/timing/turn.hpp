// How long one client keeps its event loop from the others.
#pragma once

#include <chrono>

namespace isotherm::server {

/// Begins when it is made.
class turn {
 public:
  explicit turn(std::chrono::nanoseconds length) noexcept : end_(clock::now() + length) {}
  bool is_over() const noexcept { return clock::now() >= end_; }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point end_;
};

}  // namespace isotherm::server
