#include "collector/scan/touched_pages.hpp"

#include <algorithm>
#include <new>

#include "heap/usage.hpp"

#include "base/page.hpp"

namespace isotherm::collector {

void touched_pages::clear() noexcept {
  for (auto& bits : bits_) std::ranges::fill(bits, 0);
  counts_ = {};
  read_past_ = 0;
  uses_.reset();
}

void touched_pages::add(heap::kind where, const void* object, std::size_t bytes,
                        usage_path path) noexcept try {
  const std::uintptr_t begin =
      reinterpret_cast<std::uintptr_t>(object) - heap::range_of(where).begin;
  auto& bits = bits_[where];
  base::for_each_page(begin, bytes, [&](std::size_t page, std::size_t part) {
    if (uses_) uses_->add_used(where, page, part);
    if (page / 64 >= bits.size()) bits.resize(std::max(page / 64 + 1, 2 * bits.size()));
    const std::uint64_t bit = std::uint64_t{1} << (page % 64);
    const bool is_new = (bits[page / 64] & bit) == 0;
    counts_[where] += is_new;
    read_past_ += is_new && path == usage_path::read_past;
    bits[page / 64] |= bit;
  });
} catch (const std::bad_alloc&) {
  // Pages that no memory is left to note are not counted.
}

}  // namespace isotherm::collector
