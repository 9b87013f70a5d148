#include "lab/bench/usage_map.hpp"

#include <algorithm>

namespace isotherm::lab {

void usage_map::add(std::uintptr_t address, std::size_t bytes, use how) {
  base::for_each_page(address, bytes, [&](std::uint64_t page, std::size_t part) {
    std::uint32_t& used = used_bytes_[page];
    if (how == use::unused) return;
    used_pages_ += used == 0 && part > 0;
    used += static_cast<std::uint32_t>(part);
    total_bytes_ += part;
  });
}

std::vector<usage_map::page> usage_map::by_address() const {
  std::vector<page> all;
  all.reserve(used_bytes_.size());
  for (const auto& [number, used] : used_bytes_) all.push_back({number, used});
  std::ranges::sort(all, {}, &page::number);
  return all;
}

}  // namespace isotherm::lab
