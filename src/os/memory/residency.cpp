#include "os/memory/residency.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/memory/address_space.hpp"

namespace isotherm::os {

namespace {

/// Calls `visit(is_present)` for each page from `begin` on, in order.
template <class Visit>
base::result<void> for_each_page(const void* begin, std::size_t pages, Visit visit) {
  constexpr std::size_t kPagesAtOnce = 4096;  // a call for each page would cost more than it tells
  std::array<unsigned char, kPagesAtOnce> present;
  const std::size_t page = page_bytes();
  auto* at = static_cast<std::byte*>(const_cast<void*>(begin));
  while (pages > 0) {
    const std::size_t count = std::min(pages, kPagesAtOnce);
    while (mincore(at, count * page, present.data()) != 0) {
      if (errno != EAGAIN) return std::unexpected(base::system_error("mincore", errno));
    }
    for (std::size_t i = 0; i < count; ++i) visit((present[i] & 1U) != 0);
    at += count * page;
    pages -= count;
  }
  return {};
}

}  // namespace

base::result<std::uint64_t> resident_bytes(const void* begin, std::size_t bytes) {
  const std::size_t page = page_bytes();
  std::uint64_t pages = 0;
  const auto seen =
      for_each_page(begin, (bytes + page - 1) / page, [&](bool present) { pages += present; });
  if (!seen) return std::unexpected(seen.error());
  return pages * page;
}

base::result<std::vector<bool>> resident_pages(const void* begin, std::size_t pages) {
  std::vector<bool> found;
  found.reserve(pages);
  const auto seen = for_each_page(begin, pages, [&](bool present) { found.push_back(present); });
  if (!seen) return std::unexpected(seen.error());
  return found;
}

base::result<residency_map> resident_cells(const void* begin, std::size_t pages,
                                           std::size_t pages_per_cell) {
  residency_map map;
  map.cells.reserve(pages / pages_per_cell + 1);
  std::size_t in_cell = 0, present_in_cell = 0;
  const auto end_cell = [&] {
    map.resident_pages += present_in_cell;
    const bool any = present_in_cell != 0;
    map.cells += static_cast<char>(any ? '1' + 8 * present_in_cell / in_cell : '0');
    in_cell = present_in_cell = 0;
  };
  const auto seen = for_each_page(begin, pages, [&](bool present) {
    present_in_cell += present;
    if (++in_cell == pages_per_cell) end_cell();
  });
  if (!seen) return std::unexpected(seen.error());
  if (in_cell > 0) end_cell();
  return map;
}

}  // namespace isotherm::os
