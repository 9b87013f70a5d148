#include "collector/page_uses.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "base/page.hpp"
#include "heap/usage.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

double page_uses::utilization_bound() const noexcept {
  double used = 0, touched = 0;
  for (unsigned step = 0; step < alike_.size(); ++step) {
    const double share = share_of(step * kStep + kStep / 2);
    for (const sum& all : alike_[step]) {
      if (all.bytes == 0) continue;
      const auto bytes = static_cast<double>(all.bytes);
      const double bytes_each = bytes / static_cast<double>(all.objects);
      const double objects_a_page = std::max(base::kPageBytes / bytes_each, 1.0);
      used += bytes * share;
      touched += bytes * (1 - std::pow(1 - share, objects_a_page));
    }
  }
  return touched > 0 ? used / touched : 0;
}

page_use* page_uses::at(heap::kind where, std::uint64_t number) noexcept try {
  auto& pages = pages_[where];
  if (number >= pages.size()) pages.resize(std::max(number + 1, 2 * pages.size()));
  return &pages[number];
} catch (const std::bad_alloc&) {
  return nullptr;
}

void page_uses::add_used(heap::kind where, std::uint64_t number, std::size_t bytes) noexcept {
  page_use* const page = at(where, number);
  if (!page) return;
  page->used_bytes =
      static_cast<std::uint16_t>(std::min(page->used_bytes + bytes, base::kPageBytes));
}

void page_uses::add_rate(guides::word w, std::uint64_t bytes, rate of_use) noexcept {
  const heap::kind where = guides::heap_of(w);
  if (where != heap::kind::cold && of_use > 0) {
    sum& alike = alike_[of_use / kStep][guides::size_class_of(w)];
    ++alike.objects;
    alike.bytes += bytes;
  }
  base::for_each_page(guides::address_of(w) - heap::range_of(where).begin, bytes,
                      [&](std::uint64_t number, std::size_t) {
                        page_use* const page = at(where, number);
                        if (page) page->hottest = std::max(page->hottest, of_use);
                      });
}

std::shared_ptr<const page_uses> page_watch::look() {
  const std::lock_guard lock(mutex_);
  is_asked_for_ = true;
  asked_until_ns_ = os::monotonic_ns() + kPatienceNs;
  return last_;
}

std::shared_ptr<page_uses> page_watch::begin_window() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_asked_for_, false) || os::monotonic_ns() < asked_until_ns_)
    return std::make_shared<page_uses>();
  last_.reset();
  return nullptr;
}

void page_watch::end_window(std::shared_ptr<const page_uses> filled) {
  const std::lock_guard lock(mutex_);
  if (filled) last_ = std::move(filled);
}

}  // namespace isotherm::collector
