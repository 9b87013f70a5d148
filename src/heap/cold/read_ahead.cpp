#include "heap/cold/read_ahead.hpp"

#include <algorithm>
#include <new>

#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

/// Sorted, and neighbours and what overlaps made one.
void join(std::vector<base::page_span>& spans) noexcept {
  std::ranges::sort(spans, {}, &base::page_span::offset);
  std::size_t joined = 0;
  for (const base::page_span& each : spans) {
    base::page_span* const last = joined > 0 ? &spans[joined - 1] : nullptr;
    if (last != nullptr && each.offset <= last->offset + last->bytes) {
      last->bytes = std::max(last->bytes, each.offset + each.bytes - last->offset);
    } else {
      spans[joined++] = each;
    }
  }
  spans.resize(joined);
}

}  // namespace

void read_ahead::add(const void* object) noexcept try {
  const heap_set& set = heaps();
  const packed_heap& cold = set.packed(kind::cold);
  if (!set.range_of(kind::cold).contains(object) || !cold.is_out(object)) return;
  wanted_.push_back(cold.place_of(object));
} catch (const std::bad_alloc&) {
  return;
}

void read_ahead::run() noexcept {
  join(wanted_);
  std::byte* const begin = heaps().packed(kind::cold).begin();
  // All reads are under way before the first is waited for. The second call maps what the first has
  // read: pages in the page cache alone would be in DRAM where nobody counts them or sends them
  // out.
  for (const os::advice how : {os::advice::will_need, os::advice::populate}) {
    for (const base::page_span& each : wanted_) {
      static_cast<void>(os::advise(begin + each.offset, each.bytes, how));
    }
  }
  wanted_.clear();
}

}  // namespace isotherm::heap
