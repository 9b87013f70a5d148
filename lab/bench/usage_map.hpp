// How much of each page a program uses: the bytes of its objects that were used lately, page by
// page. Page utilization is their share of the pages that hold any of them (the papers' measure).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/page.hpp"

namespace isotherm::lab {

/// Whether an object was used lately, in the caller's sense of it.
enum class use : unsigned char { unused, used };

/// The pages that hold objects, and the bytes of used objects in each. Not thread-safe.
class usage_map {
 public:
  /// Adds an object of `bytes` bytes at `address`. An object is added once, since its bytes count
  /// each time.
  void add(std::uintptr_t address, std::size_t bytes, use how);

  std::uint64_t pages() const noexcept { return used_bytes_.size(); }  ///< with any object
  std::uint64_t used_pages() const noexcept { return used_pages_; }    ///< with a used one
  std::uint64_t used_bytes() const noexcept { return total_bytes_; }   ///< of used objects
  /// used_bytes() over the bytes of used_pages(), 0..1.
  double utilization() const noexcept { return base::page_utilization(total_bytes_, used_pages_); }

  struct page {
    std::uint64_t number;      ///< its address / base::kPageBytes
    std::uint32_t used_bytes;  ///< of used objects in it
  };
  /// All pages with an object, in the order of their addresses.
  std::vector<page> by_address() const;

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> used_bytes_;  ///< by page number
  std::uint64_t used_pages_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace isotherm::lab
