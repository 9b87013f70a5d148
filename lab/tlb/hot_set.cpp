#include "lab/tlb/hot_set.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace isotherm::lab {

const char* name_of(layout which) noexcept {
  return which == layout::scattered ? "scattered" : "clustered";
}

std::vector<std::uint32_t> choose_hot_lines(const object_region& region, std::uint64_t hot_objects,
                                            layout which, std::uint64_t seed) {
  base::random random(seed);
  std::vector<std::uint32_t> lines;
  lines.reserve(hot_objects);
  for (std::uint64_t object = 0; lines.size() < hot_objects; ++object) {
    // Selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S): an object is taken with the chance
    // that the objects still wanted have among those still to come.
    const std::uint64_t to_come = region.objects - object;
    if (which == layout::scattered && random.below(to_come) >= hot_objects - lines.size()) continue;
    const std::uint64_t line =
        object * region.lines_per_object + random.below(region.lines_per_object);
    lines.push_back(static_cast<std::uint32_t>(line));
  }
  std::ranges::shuffle(lines, random);
  return lines;
}

std::uint64_t count_pages(std::span<const std::uint32_t> lines, std::uint64_t page_bytes) {
  std::vector<std::uint64_t> pages(lines.size());
  std::ranges::transform(lines, pages.begin(),
                         [=](std::uint32_t line) { return line * kLineBytes / page_bytes; });
  std::ranges::sort(pages);
  return static_cast<std::uint64_t>(std::ranges::unique(pages).begin() - pages.begin());
}

}  // namespace isotherm::lab
