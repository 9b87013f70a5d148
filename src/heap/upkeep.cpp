#include "heap/upkeep.hpp"

#include "heap/brake.hpp"
#include "heap/ranges.hpp"

namespace isotherm::heap {

void note_cold_use(const void* object) noexcept { heaps().packed(kind::cold).note_use(object); }

bool is_sparse(const void* object, double live_share) noexcept {
  heap_set& set = heaps();
  return set.packed(set.kind_of(object)).is_sparse(object, live_share);
}

packing packing_of(kind where) noexcept { return heaps().packed(where).packing_now(); }

void slow_allocation(std::uint32_t microseconds_per_extent) noexcept {
  loading_brake.set(microseconds_per_extent);
}

std::uint64_t slowed_allocations() noexcept { return loading_brake.waits(); }

std::uint64_t slowed_allocation_us() noexcept { return loading_brake.waited_us(); }

page_out_report page_out_cold(hint how, std::uint64_t limit_bytes,
                              const std::function<bool()>& stop) {
  return heaps().cold_pager.page_out(how, limit_bytes, stop);
}

}  // namespace isotherm::heap
