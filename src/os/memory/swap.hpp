// Swap space: where anonymous pages can go.
#pragma once

#include <cstdint>

namespace isotherm::os {

/// Swap space of the system; zram counts. A control group may allow less.
struct swap_space {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// Reads /proc/meminfo; zeros where it cannot be read.
swap_space read_swap_space();

}  // namespace isotherm::os
