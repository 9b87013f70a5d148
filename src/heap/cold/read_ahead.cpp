#include "heap/cold/read_ahead.hpp"

#include <algorithm>
#include <new>

#include "heap/cold/arrived_reads.hpp"
#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

/// The system cuts what it is asked to read ahead to this, by its default (read_ahead_kb).
constexpr std::uint64_t kAskedTogether = std::uint64_t{128} << 10;

bool advise(std::uint64_t offset, std::uint64_t bytes, os::advice how) {
  return os::advise(heaps().packed(kind::cold).extents().begin() + offset, bytes, how).has_value();
}

void ask_for(const base::page_span& pages) {
  for (std::uint64_t done = 0; done < pages.bytes; done += kAskedTogether) {
    advise(pages.offset + done, std::min(kAskedTogether, pages.bytes - done),
           os::advice::will_need);
  }
}

}  // namespace

void read_ahead::add(const void* object) noexcept try {
  if (is_out(object)) wanted_.push_back({object, miss(object)});
} catch (const std::bad_alloc&) {
  return;
}

void read_ahead::run() noexcept {
  std::ranges::sort(wanted_, {}, [](const object_out& one) { return one.pages.where().offset; });
  try {
    begin_reading();  // all of it, before the first is waited for
    map();
  } catch (const std::bad_alloc&) {  // for an error's text
  }
  wanted_.clear();
}

/// Of pages side by side in one read.
void read_ahead::begin_reading() const {
  base::page_span together;
  for (const object_out& each : wanted_) {
    const base::page_span& pages = each.pages.where();
    if (pages.offset > together.offset + together.bytes) {
      ask_for(together);
      together = pages;
    }
    const std::uint64_t end =
        std::max(together.offset + together.bytes, pages.offset + pages.bytes);
    together.bytes = end - together.offset;
  }
  ask_for(together);
}

/// Pages in the page cache alone would be in DRAM where nobody counts them or sends them out.
void read_ahead::map() const {
  cold_extents& cold = heaps().cold();
  for (const object_out& each : wanted_) {
    const base::page_span& pages = each.pages.where();
    if (advise(pages.offset, pages.bytes, os::advice::populate)) cold.note_use(each.object);
  }
}

}  // namespace isotherm::heap
