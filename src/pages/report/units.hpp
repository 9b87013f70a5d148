// The unit of sizes in a report's text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "pages/measure.hpp"

namespace isotherm::pages {

/// The unit of all sizes of a report, by its largest one.
struct unit {
  std::string_view name;
  double bytes = 1;
  double operator()(std::uint64_t size) const { return static_cast<double>(size) / bytes; }
};

inline unit unit_for(const window_report& w) {
  constexpr std::uint64_t kSmall = 16 << 20;
  if (std::max(w.all.resident, w.all.touched) < kSmall) return {.name = "KiB", .bytes = 1 << 10};
  return {.name = "MiB", .bytes = 1 << 20};
}

inline double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace isotherm::pages
