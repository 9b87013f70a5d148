// Transparent huge pages of 2 MiB: how a range gets none, and how many one has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace isotherm::os {

/// Bytes of a huge page (x86-64, and AArch64 with pages of 4 KiB).
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Keeps huge pages out of a range (MADV_NOHUGEPAGE), whatever the system's setting. Whole pages.
/// A kernel without huge pages has nothing to keep out, and that is no error.
base::result<void> keep_pages_small(void* begin, std::size_t bytes);

/// Returns how many bytes of the mappings that meet [begin, end) lie in huge pages (AnonHugePages
/// of /proc/self/smaps). Walks the page tables of the process: milliseconds for a gigabyte.
std::uint64_t huge_bytes_in(std::uintptr_t begin, std::uintptr_t end);

/// Returns the system's setting of huge pages ("always", "madvise" or "never"); "absent" where the
/// kernel has none.
std::string huge_page_setting();

}  // namespace isotherm::os
