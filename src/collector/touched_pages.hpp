// Which 4 KiB pages of the heaps hold an object that was accessed in this window.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/kind.hpp"

namespace isotherm::collector {

/// A bitmap a heap. For one thread.
class touched_pages {
 public:
  void clear() noexcept;
  /// Marks the pages of an object in heap `where`; those for which no memory is left go uncounted.
  void add(heap::kind where, const void* object, std::size_t bytes) noexcept;
  std::uint64_t count(heap::kind where) const noexcept { return counts_[where]; }
  /// Of all heaps.
  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const heap::kind where : heap::kKinds) sum += counts_[where];
    return sum;
  }

 private:
  heap::per_kind<std::vector<std::uint64_t>> bits_;
  heap::per_kind<std::uint64_t> counts_;
};

}  // namespace isotherm::collector
