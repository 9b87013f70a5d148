#include "os/residency.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/memory.hpp"

namespace isotherm::os {

base::result<std::uint64_t> resident_bytes(const void* begin, std::size_t bytes) {
  constexpr std::size_t kPagesAtOnce = 4096;
  std::array<unsigned char, kPagesAtOnce> present;
  const std::size_t page = page_bytes();
  auto* at = static_cast<std::byte*>(const_cast<void*>(begin));
  std::uint64_t pages = 0;
  while (bytes > 0) {
    const std::size_t step = std::min(bytes, kPagesAtOnce * page);
    while (mincore(at, step, present.data()) != 0) {
      if (errno != EAGAIN) return std::unexpected(base::system_error("mincore", errno));
    }
    const std::size_t count = (step + page - 1) / page;
    for (std::size_t i = 0; i < count; ++i) pages += present[i] & 1U;
    at += step;
    bytes -= step;
  }
  return pages * page;
}

base::result<residency_map> resident_cells(const void* begin, std::size_t pages,
                                           std::size_t pages_per_cell) {
  residency_map map;
  const std::size_t page = page_bytes();
  const auto* at = static_cast<const std::byte*>(begin);
  while (pages > 0) {
    const std::size_t count = std::min(pages, pages_per_cell);
    const auto bytes = resident_bytes(at, count * page);
    if (!bytes) return std::unexpected(bytes.error());
    const std::uint64_t present = *bytes / page;
    map.resident_pages += present;
    map.cells += static_cast<char>(present == 0 ? '0' : '1' + 8 * present / count);
    at += count * page;
    pages -= count;
  }
  return map;
}

}  // namespace isotherm::os
