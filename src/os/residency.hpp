// What is in DRAM of a range of addresses. For the process as a whole see process_memory.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"

namespace isotherm::os {

/// Bytes of [begin, begin + bytes) that are in DRAM (mincore): present pages of anonymous memory;
/// for file mappings the page cache, mapped or not. `begin` must lie on a page. Fails on unmapped
/// addresses. Costs about a byte read for each page, in the kernel.
base::result<std::uint64_t> resident_bytes(const void* begin, std::size_t bytes);

}  // namespace isotherm::os
