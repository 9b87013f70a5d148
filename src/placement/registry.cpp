#include "placement/registry.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace isotherm::placement {

// A kind is defined in the source of its name.
extern const placement_kind kSinlk;

namespace {

constexpr const placement_kind* kKinds[] = {&kSinlk};

}  // namespace

std::span<const placement_kind* const> placement_kinds() noexcept { return kKinds; }

std::vector<std::string_view> placement_names() {
  std::vector<std::string_view> all;
  for (const placement_kind* const each : kKinds) all.push_back(each->name);
  return all;
}

std::unique_ptr<node_placement> make_placement(std::string_view name, const fast_size& fast) {
  const auto* const found = std::ranges::find(kKinds, name, &placement_kind::name);
  ISO_CHECK(found != std::end(kKinds), "a placement of each of these names exists");
  return (*found)->make(fast);
}

}  // namespace isotherm::placement
