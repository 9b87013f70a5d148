// Which 4 KiB pages of the heaps hold an object that was accessed in this window.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/page.hpp"
#include "heap/heap.hpp"

namespace isotherm::collector {

/// A bitmap a heap. For one thread.
class touched_pages {
 public:
  void clear() noexcept;
  /// Marks the pages of an object in heap `where`; those for which no memory is left go uncounted.
  void add(heap::kind where, const void* object, std::size_t bytes) noexcept;
  std::uint64_t count(heap::kind where) const noexcept {
    return counts_[static_cast<std::size_t>(where)];
  }
  std::uint64_t count() const noexcept { return counts_[0] + counts_[1] + counts_[2]; }

 private:
  std::array<std::vector<std::uint64_t>, heap::kKinds> bits_;
  std::array<std::uint64_t, heap::kKinds> counts_{};
};

}  // namespace isotherm::collector
