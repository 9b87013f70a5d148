#include "lab/backends/tiering/page_heat.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>

namespace isotherm::lab {

void page_heat::cool() {
  for (auto& [page, count] : counts_) count /= 2;
  std::erase_if(counts_, [](const auto& each) { return each.second == 0; });
}

std::uint32_t page_heat::count(std::uintptr_t page) const noexcept {
  const auto found = counts_.find(page);
  return found == counts_.end() ? 0 : found->second;
}

std::uint32_t page_heat::hot_from(std::size_t room) const noexcept {
  constexpr int kBins = 32;
  std::array<std::size_t, kBins + 1> bins{};  // by bit_width: 0, 1, 2..3, 4..7, ...
  for (const auto& [page, count] : counts_) ++bins[static_cast<std::size_t>(std::bit_width(count))];
  int bin = kBins;
  for (std::size_t hot = 0; bin > 0; --bin) {
    hot += bins[static_cast<std::size_t>(bin)];
    if (hot > room) break;
  }
  return bin == kBins ? ~std::uint32_t{0} : std::uint32_t{1} << bin;
}

page_heat::moves page_heat::choose(std::span<const std::uintptr_t> fast,
                                   std::span<const std::uintptr_t> slow, std::size_t free) const {
  const std::uint32_t hot = hot_from(fast.size() + free);
  const std::uint32_t warm = std::max(hot / 2, std::uint32_t{1});
  const auto heat = [&](std::uintptr_t page) { return count(page); };
  moves chosen;
  std::ranges::copy_if(slow, std::back_inserter(chosen.promoted),
                       [&](std::uintptr_t page) { return heat(page) >= warm; });
  std::ranges::sort(chosen.promoted, std::ranges::greater(), heat);
  const auto hottest = static_cast<std::size_t>(std::ranges::count_if(
      chosen.promoted, [&](std::uintptr_t page) { return heat(page) >= hot; }));
  if (hottest > free) {
    std::ranges::copy_if(fast, std::back_inserter(chosen.demoted),
                         [&](std::uintptr_t page) { return heat(page) < warm; });
    std::ranges::sort(chosen.demoted, std::ranges::less(), heat);
    chosen.demoted.resize(std::min(chosen.demoted.size(), hottest - free));
  }
  chosen.promoted.resize(std::min(chosen.promoted.size(), free + chosen.demoted.size()));
  return chosen;
}

}  // namespace isotherm::lab
