// Swap space: where anonymous pages can go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace isotherm::os {

/// Swap space of the system; zram counts. A control group may allow less.
struct swap_space {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
};

/// Reads /proc/meminfo; zeros where it cannot be read.
swap_space read_swap_space();

/// Returns the first page of swap space in a file or a block device of so many bytes, two pages or
/// more, as mkswap(8) writes it.
std::vector<std::byte> swap_header(std::uint64_t bytes);

/// Makes the kernel use the swap space at `path`, before all that it had. Needs root.
base::result<void> start_swap(const std::string& path);
/// Brings all pages back from the swap space at `path` and ends its use, which takes as long as the
/// reads do. Errors: EINVAL: it was not in use. Needs root.
base::result<void> stop_swap(const std::string& path);

}  // namespace isotherm::os
