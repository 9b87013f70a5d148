// Asking a mapped COLD's pages to leave DRAM (OBASE 3.4, hinted mode).
//
// Only closed extents are asked for: in an open one the next object would fault its page back in.
// An extent is asked for once after it was closed, and again when something touched it: the
// collector and peek() report uses (note_use). A use that is not reported (while pages were on
// their way out) shows when an extent's turn comes to be looked at: mincore walks page tables, so
// that a look at all of COLD would make a window's cost follow the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "heap/packed/packed.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::heap {

/// One caller at a time. `cold`, a heap with cold_extents, must outlive it.
class pager {
 public:
  explicit pager(packed_heap& cold) noexcept : heap_(cold) {}

  /// page_out_cold() of upkeep.hpp.
  page_out_report page_out(hint how, std::uint64_t limit_bytes, const std::function<bool()>& stop);

 private:
  /// A closed extent (or run) with live objects whose pages may leave.
  struct candidate {
    std::size_t first;
    std::size_t count;
    std::uint64_t resident_bytes;
  };
  const extent_table& extents() const noexcept { return heap_.extents(); }
  std::vector<candidate> candidates(hint how, std::uint64_t limit_bytes);
  base::result<void> let_go(const candidate& which, hint how);
  void page_out(hint how, std::uint64_t limit_bytes, const std::function<bool()>& stop,
                page_out_report& report);
  std::uint64_t look_at(std::size_t first, std::size_t count);
  std::uint64_t resident(std::size_t first, std::size_t count) const;

  packed_heap& heap_;
  std::size_t sweep_ = 0;         // the next extent to be asked for
  std::uint64_t kept_bytes_ = 0;  // asked for in a row, of which no page left
  std::size_t again_ = 0;         // the next of those asked for already that is looked at again
};

}  // namespace isotherm::heap
