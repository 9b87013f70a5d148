// The unit in which the kernel moves memory and files give back their blocks, and how much of it is
// used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace isotherm::base {

/// The page size of x86-64, and of AArch64 as it is commonly configured.
inline constexpr std::size_t kPageBytes = 4096;

/// Some whole pages of a range.
struct page_span {
  std::uint64_t offset = 0;  ///< of the first, from the range's begin
  std::uint64_t bytes = 0;
  friend bool operator==(const page_span&, const page_span&) = default;
};

/// Calls visit(page, bytes) for each page that holds a part of the object of `bytes` bytes at
/// `address`: the page's number (address / kPageBytes) and the bytes of the part. An object of no
/// bytes has a part of none.
template <class Visit>
constexpr void for_each_page(std::uintptr_t address, std::size_t bytes, Visit&& visit) {
  const std::uintptr_t end = address + bytes;
  std::uintptr_t at = address;
  do {
    const std::uintptr_t page = at / kPageBytes;
    const std::uintptr_t part_end = std::min<std::uintptr_t>(end, (page + 1) * kPageBytes);
    visit(page, static_cast<std::size_t>(part_end - at));
    at = part_end;
  } while (at < end);
}

/// Page utilization: the share of the bytes of `pages` pages that `used_bytes` are; 0 of no pages.
constexpr double page_utilization(std::uint64_t used_bytes, std::uint64_t pages) noexcept {
  if (pages == 0) return 0;
  return static_cast<double>(used_bytes) / static_cast<double>(pages * kPageBytes);
}

}  // namespace isotherm::base
