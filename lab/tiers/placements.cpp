#include "lab/tiers/placements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace isotherm::lab {
namespace {

struct entry {
  std::string_view name;
  std::unique_ptr<tier_placement> (*make)(const placement::sinlk_options& chosen);
};

template <std::unique_ptr<tier_placement> (*Make)(std::uint64_t)>
std::unique_ptr<tier_placement> of_size(const placement::sinlk_options& chosen) {
  return Make(chosen.fast.bytes);
}

constexpr entry kEntries[] = {
    {"interleave", &of_size<make_interleave_placement>},
    {"tpp", &of_size<make_tpp_placement>},
    {"memtis", &of_size<make_memtis_placement>},
    {"caption", &of_size<make_caption_placement>},
    {"static", &of_size<make_static_placement>},
    {"layered", &of_size<make_layered_placement>},
    {"sinlk", &make_sinlk_placement},
    {"prophet", &of_size<make_prophet_placement>},
};

}  // namespace

const std::vector<std::string_view>& placement_names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> list;
    for (const entry& each : kEntries) list.push_back(each.name);
    return list;
  }();
  return all;
}

base::result<std::unique_ptr<tier_placement>> make_placement(
    std::string_view name, const placement::sinlk_options& chosen) {
  for (const entry& each : kEntries) {
    if (each.name == name) return each.make(chosen);
  }
  return std::unexpected(base::error{fmt::format("no placement is called '{}'; use some of: {}",
                                                 name, fmt::join(placement_names(), ", ")),
                                     0});
}

}  // namespace isotherm::lab
