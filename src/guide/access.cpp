#include "guide/access.hpp"

#include <memory>
#include <new>
#include <utility>

#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/ranges.hpp"

namespace isotherm {

void access::close() noexcept {
  if (std::exchange(is_open_, false)) std::destroy_at(&scope_);
}

void access::renew() noexcept {
  close();
  std::construct_at(&scope_);
  is_open_ = true;
}

bool access::may_read_past_mapping() const noexcept {
  return !waits() || arrived_ != nullptr || heap::handed_over::is_any();
}

std::shared_ptr<const heap::cold_read> access::find_read(const void* object) const noexcept {
  const bool has_some = arrived_ != nullptr && !arrived_->is_empty();
  // A copy in a read that is handed over need not live as long as this access.
  const bool is_handed_some = !may_use_copies() && heap::handed_over::is_any();
  if (!has_some && !is_handed_some) return nullptr;
  const base::page_span where = heap::heaps().cold().place_of(object);
  if (has_some) {
    if (auto found = arrived_->find(where)) return found;
  }
  return is_handed_some ? heap::handed_over::find(where) : nullptr;
}

void access::record(const void* object, heap::used_before before) noexcept {
  note(outcome::missed);
  if (recorded_ != nullptr && missed_bytes() >= heap::read_limits().noted_bytes) return;
  try {
    if (recorded_ == nullptr) recorded_ = std::make_unique<recorded>();
    auto& misses = recorded_->misses;
    heap::miss noted(object, before);
    if (!misses.empty() && misses.back().where() == noted.where()) return;
    misses.push_back(std::move(noted));
    recorded_->bytes += misses.back().where().bytes;
  } catch (const std::bad_alloc&) {
    note(outcome::must_wait);
  }
}

}  // namespace isotherm
