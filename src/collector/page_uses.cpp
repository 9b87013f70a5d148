#include "collector/page_uses.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "base/page.hpp"
#include "heap/usage.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

namespace {

/// Bytes that an object of a class has at least.
std::uint64_t least_bytes(unsigned size_class) noexcept {
  return size_class == 0 ? 1 : guides::size_of_class(size_class - 1) + 1;
}

}  // namespace

double page_uses::utilization_bound() const noexcept {
  double used = 0, touched = 0;
  for (unsigned step = 0; step < objects_.size(); ++step) {
    const double share = share_of(step * kStep + kStep / 2);
    for (unsigned size_class = 0; size_class < kClasses; ++size_class) {
      const auto bytes = static_cast<double>(guides::size_of_class(size_class));
      const double objects_a_page = std::max(base::kPageBytes / bytes, 1.0);
      const double all = objects_[step][size_class] * bytes;
      used += all * share;
      touched += all * (1 - std::pow(1 - share, objects_a_page));
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

void page_uses::add_rate(guides::word w, rate of_use) noexcept {
  const heap::kind where = guides::heap_of(w);
  const unsigned size_class = guides::size_class_of(w);
  if (where != heap::kind::cold && of_use > 0) ++objects_[of_use / kStep][size_class];
  base::for_each_page(guides::address_of(w) - heap::range_of(where).begin, least_bytes(size_class),
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
