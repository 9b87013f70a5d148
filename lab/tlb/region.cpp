#include "lab/tlb/region.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/page.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/huge_pages.hpp"

namespace isotherm::lab {

std::uint64_t bytes_of(page_size size) noexcept {
  return size == page_size::huge ? os::kHugePageBytes : base::kPageBytes;
}

const char* name_of(page_size size) noexcept { return size == page_size::huge ? "2m" : "4k"; }

const char* name_of(access_kind kind) noexcept {
  return kind == access_kind::dependent ? "dependent" : "independent";
}

base::result<memory_region> memory_region::make(std::uint64_t bytes, page_size size) {
  const auto begin = os::reserve(bytes, os::kHugePageBytes);
  if (!begin) return std::unexpected(begin.error());
  memory_region made({reinterpret_cast<line*>(*begin), bytes / sizeof(line)}, size);
  if (auto usable = os::commit(*begin, bytes); !usable) return std::unexpected(usable.error());
  if (size == page_size::huge) {
    // A kernel without huge pages refuses; huge_bytes() then tells of none.
    static_cast<void>(os::advise(*begin, bytes, os::advice::huge));
  } else if (auto small = os::keep_pages_small(*begin, bytes); !small) {
    return std::unexpected(small.error());
  }
  std::ranges::fill(made.lines_, line{});
  return made;
}

memory_region::~memory_region() {
  if (!lines_.empty()) os::release(lines_.data(), lines_.size_bytes());
}

std::uint64_t memory_region::huge_bytes() const {
  const auto begin = reinterpret_cast<std::uintptr_t>(lines_.data());
  return std::min(os::huge_bytes_in(begin, begin + bytes()), bytes());
}

void memory_region::link(std::span<const std::uint32_t> order, layout which) noexcept {
  std::uint32_t last = order.back();
  for (const std::uint32_t each : order) {
    lines_[last].next[static_cast<std::size_t>(which)] = each;
    last = each;
  }
}

std::uint64_t memory_region::chase(std::uint32_t first, std::size_t which,
                                   std::uint64_t steps) const noexcept {
  std::uint32_t at = first;
  for (; steps > 0; --steps) at = lines_[at].next[which];
  return at;
}

std::uint64_t memory_region::add_up(std::span<const std::uint32_t> order,
                                    std::size_t which) const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint32_t each : order) sum += lines_[each].next[which];
  return sum;
}

std::uint64_t memory_region::walk(std::span<const std::uint32_t> order, layout which,
                                  access_kind kind, std::uint64_t passes) const noexcept {
  const auto side = static_cast<std::size_t>(which);
  if (kind == access_kind::dependent) return chase(order.front(), side, passes * order.size());
  std::uint64_t sum = 0;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    sum += add_up(order, side);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // The compiler reads anew in each pass.
  }
  return sum;
}

std::uint64_t checked_sum(std::span<const std::uint32_t> order, access_kind kind,
                          std::uint64_t passes) noexcept {
  if (kind == access_kind::dependent) return order.front();  // A whole pass ends where it began.
  return passes * std::accumulate(order.begin(), order.end(), std::uint64_t{0});
}

}  // namespace isotherm::lab
