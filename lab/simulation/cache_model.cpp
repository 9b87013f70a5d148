#include "lab/simulation/cache_model.hpp"

#include <algorithm>
#include <span>

#include "base/random.hpp"

namespace isotherm::lab {

cache_model::cache_model(std::uint64_t bytes)
    : sets_(bytes / kLineBytes / kWays), lines_(sets_ * kWays) {}

bool cache_model::use(std::uint64_t line) noexcept {
  if (sets_ == 0) return false;
  const std::uint64_t tag = line + 1;  // no line is 0
  const std::span set(lines_.data() + base::mix64(line) % sets_ * kWays, kWays);
  const auto found = std::ranges::find(set, tag);
  const bool is_hit = found != set.end();
  const auto last = is_hit ? found : set.end() - 1;
  std::move_backward(set.begin(), last, last + 1);
  set.front() = tag;
  return is_hit;
}

}  // namespace isotherm::lab
