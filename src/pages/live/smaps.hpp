// The text of /proc/PID/smaps: the mappings of a process and what was used of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pages/memory_image.hpp"

namespace isotherm::pages {

/// A mapping, and bytes of its resident pages that were used since the kernel's marks were cleared
/// ("Referenced").
struct mapping_use {
  mapping where;
  std::uint64_t used = 0;
};

/// Returns the mappings of a text of smaps, in its order. Lines of other kinds are left out.
std::vector<mapping_use> parse_smaps(std::string_view text);

}  // namespace isotherm::pages
