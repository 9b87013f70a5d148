#include "lab/tlb/model.hpp"

namespace isotherm::lab {

double translation_cycles(std::uint64_t accesses, std::uint64_t pages,
                          const translation_costs& costs) noexcept {
  return static_cast<double>(accesses) * costs.hit_cycles + costs.first_walk_cycles +
         static_cast<double>(pages) * costs.walk_cycles;
}

std::uint64_t hot_scenario::hot_objects() const noexcept {
  const std::uint64_t objects = region_bytes / object_bytes;
  return static_cast<std::uint64_t>(hot_share * static_cast<double>(objects));
}

std::uint64_t hot_scenario::clustered_pages() const noexcept {
  return (hot_objects() * object_bytes + page_bytes - 1) / page_bytes;
}

std::uint64_t hot_scenario::scattered_pages() const noexcept { return 2 * hot_objects(); }

}  // namespace isotherm::lab
