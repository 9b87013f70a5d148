// The part of a range of addresses that is in DRAM. For the process as a whole see
// process_memory.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace isotherm::os {

/// Bytes of [begin, begin + bytes) that are in DRAM (mincore): present pages of anonymous memory;
/// for file mappings the page cache, mapped or not. `begin` must lie on a page. Fails on unmapped
/// addresses. Costs about a byte read for each page, in the kernel.
base::result<std::uint64_t> resident_bytes(const void* begin, std::size_t bytes);

/// Which of `pages` pages from `begin` on are in DRAM. Fails as above.
base::result<std::vector<bool>> resident_pages(const void* begin, std::size_t pages);

/// Residency in cells of some pages: a digit a cell, '0' for none of its pages to '9' for all.
struct residency_map {
  std::string cells;
  std::uint64_t resident_pages = 0;
};
/// Maps `pages` pages of 4 KiB from `begin` on, `pages_per_cell` (> 0) a cell. Fails as above.
base::result<residency_map> resident_cells(const void* begin, std::size_t pages,
                                           std::size_t pages_per_cell);

}  // namespace isotherm::os
