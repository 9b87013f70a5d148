#include "lab/backends/read_nodes.hpp"

#include <algorithm>

#include "os/memory/numa.hpp"

namespace isotherm::lab {

void read_nodes::see(std::string_view value) noexcept {
  constexpr std::uint64_t kPeriod = 32;
  if (reads_.fetch_add_relaxed(1) % kPeriod != 0) return;
  const auto node = os::node_of(value.data());
  if (!node) return;
  seen_.fetch_add_relaxed(1);
  if (std::ranges::count(fast_, *node) > 0) on_fast_.fetch_add_relaxed(1);
}

}  // namespace isotherm::lab
