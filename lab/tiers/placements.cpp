#include "lab/tiers/placements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace isotherm::lab {

// The kinds are defined in node_placements.cpp, page_placements.cpp or sources of their own.
extern const placement_kind kInterleave, kTpp, kMemtis, kCaption;
extern const placement_kind kStatic, kLayered, kSinlk, kProphet;
extern const placement_kind kFixedSinlk, kPassiveSinlk, kSeparateSinlk;

namespace {

constexpr const placement_kind* kKinds[] = {&kInterleave, &kTpp,          &kMemtis,       &kCaption,
                                            &kStatic,     &kLayered,      &kSinlk,        &kProphet,
                                            &kFixedSinlk, &kPassiveSinlk, &kSeparateSinlk};

}  // namespace

std::vector<std::string_view> placement_names() {
  std::vector<std::string_view> all;
  for (const placement_kind* const each : kKinds) all.push_back(each->name);
  return all;
}

std::vector<std::string_view> placement_names(placed_unit unit) {
  std::vector<std::string_view> some;
  for (const placement_kind* const each : kKinds) {
    if (each->unit == unit) some.push_back(each->name);
  }
  return some;
}

counting counted_for(std::string_view name) {
  for (const placement_kind* const each : kKinds) {
    if (each->name == name) return each->needs;
  }
  return counting::none;
}

base::result<std::unique_ptr<tier_placement>> make_placement(std::string_view name,
                                                             const placement_options& chosen) {
  for (const placement_kind* const each : kKinds) {
    if (each->name == name) return each->make(chosen);
  }
  return std::unexpected(base::error{fmt::format("no placement is called '{}'; use some of: {}",
                                                 name, fmt::join(placement_names(), ", ")),
                                     0});
}

}  // namespace isotherm::lab
