#include "lab/backends/backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace isotherm::lab {

// All are defined in sources of lab/backends/reclaim or lab/backends/tiering.
extern const backend_kind kNone, kKswapd, kCgroup, kTmo, kHinted, kZram, kLog, kAutonuma,
    kTieredBalancing, kMemtisAgent, kDamon, kDamonTiers;

namespace {

constexpr const backend_kind* kKinds[] = {
    &kNone, &kKswapd,   &kCgroup,          &kTmo,         &kHinted, &kZram,
    &kLog,  &kAutonuma, &kTieredBalancing, &kMemtisAgent, &kDamon,  &kDamonTiers};

}  // namespace

std::span<const backend_kind* const> backend_kinds() { return kKinds; }

base::result<const backend_kind*> find_backend(std::string_view name) {
  std::vector<std::string_view> names;
  for (const backend_kind* const each : kKinds) {
    if (each->name == name) return each;
    names.push_back(each->name);
  }
  return std::unexpected(base::error{
      fmt::format("no backend is called '{}'; use some of: {}", name, fmt::join(names, ", "))});
}

}  // namespace isotherm::lab
