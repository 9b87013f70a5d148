#include "heap/upkeep.hpp"

#include "heap/ranges.hpp"

namespace isotherm::heap {

void note_cold_use(const void* object) noexcept { heaps().packed(kind::cold).note_use(object); }

bool is_sparse(const void* object, double live_share) noexcept {
  heap_set& set = heaps();
  return set.packed(set.kind_of(object)).is_sparse(object, live_share);
}

packing packing_of(kind where) noexcept { return heaps().packed(where).packing_now(); }

page_out_report page_out_cold(hint how, std::uint64_t limit_bytes,
                              const std::function<bool()>& stop) {
  return heaps().cold_pager.page_out(how, limit_bytes, stop);
}

}  // namespace isotherm::heap
