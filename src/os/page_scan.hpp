// The pages of any process, as /proc/PID/pagemap tells them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "os/files/file.hpp"

namespace isotherm::os {

/// Facts about a page, bits of the kernel's PAGEMAP_SCAN (Linux 6.7).
enum page_fact : std::uint64_t { kPagePresent = 1 << 3, kPageOfZeros = 1 << 5, kPageHuge = 1 << 6 };

/// Pages side by side, [begin, end), of which the same facts hold.
struct page_run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t facts = 0;
};

/// The pages that a scan is to find: all facts of `with` hold, none of `without`.
struct page_choice {
  std::uint64_t with = 0;
  std::uint64_t without = 0;
  std::uint64_t told = 0;  ///< facts that runs tell, and by which they differ
};

/// Returns the chosen pages of [begin, end), in the order of addresses. `pagemap` is the open
/// /proc/PID/pagemap. Costs nothing for address space without pages.
/// Errors: ENOTTY where the kernel has no such call.
base::result<std::vector<page_run>> scan_pages(const file& pagemap, std::uint64_t begin,
                                               std::uint64_t end, const page_choice& choice);

/// Returns the pages of [begin, end) that are present, by reading an entry of 8 bytes for each page
/// of the range: for kernels without scan_pages(). The runs tell kPagePresent alone.
base::result<std::vector<page_run>> read_present_pages(const file& pagemap, std::uint64_t begin,
                                                       std::uint64_t end);

}  // namespace isotherm::os
