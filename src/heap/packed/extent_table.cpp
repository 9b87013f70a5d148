#include "heap/packed/extent_table.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "heap/packed/rows.hpp"
#include "heap/poison.hpp"

namespace isotherm::heap {

base::result<void> extent_table::open(std::byte* begin, std::size_t bytes,
                                      std::unique_ptr<backing> pages) {
  count_ = bytes / kExtentBytes;
  pages_ = std::move(pages);
  is_logged_ = pages_->is_logged();
  taken_ = extent_set(count_);
  auto rows = make_rows<extent>(count_);
  if (!rows) return std::unexpected(rows.error());
  static_cast<extent_rows&>(*this) = extent_rows(begin, *rows);
  return pages_->map(begin, bytes);
}

/// No other thread has a pointer to the object of the run: the pages are asked for after the mutex
/// was left.
std::optional<std::size_t> extent_table::acquire(std::size_t count) noexcept {
  const auto first = [&] {
    const std::lock_guard lock(mutex_);
    return choose(count);
  }();
  if (!first) return std::nullopt;
  const auto taken = pages_->take(*first * kExtentBytes, count * kExtentBytes);
  if (taken) return first;
  refusal_code_.store_relaxed(taken.error().code);
  row(*first).word.store_release(extent_word::kClosed);
  give_back(dissolve(*first));  // what the disk gave of it
  return std::nullopt;
}

extent_run extent_table::dissolve(std::size_t first) noexcept {
  const std::uint32_t count = std::max(row(first).run.load_relaxed(), 1U);
  row(first).run.store_relaxed(0);
  return {first, count};
}

void extent_table::give_back(const extent_run& which) noexcept {
  if (pages_->is_frozen()) return;
  pages_->give_back(which.first * kExtentBytes, which.count * kExtentBytes);
  const std::lock_guard lock(mutex_);
  mark_free(which);
}

std::optional<std::size_t> extent_table::choose(std::size_t count) noexcept {
  const std::size_t first = find_free(count);
  const std::size_t end = first + count;
  if (end > count_) return std::nullopt;
  const std::size_t used = used_.load_relaxed();
  if (end > used) poison(address_of(used), (end - used) * kExtentBytes);
  for (std::size_t i = first; i < end; ++i) row(i).reset();
  row(first).run.store_relaxed(static_cast<std::uint32_t>(count));
  row(first).birth.store_relaxed(births_.fetch_add_relaxed(1));
  row(first).word.store_release(extent_word::kClosed | 1U);
  // Release: pairs with the acquire of used(); the walk sees these rows.
  if (end > used) used_.store_release(end);
  mark_taken({first, count});
  return first;
}

/// Returns the lowest index of `count` free neighbours; extents from used_ on are all free.
std::size_t extent_table::find_free(std::size_t count) const noexcept {
  const std::size_t used = used_.load_relaxed();
  std::size_t run = 0;
  std::size_t i = lowest_free_;
  for (; i < used && run < count; ++i) {
    if (i % 64 == 0 && taken_.contains_64(i)) {
      run = 0;
      i += 63;
    } else {
      run = taken_.contains(i) ? 0 : run + 1;
    }
  }
  return std::min(i, used) - run;
}

void extent_table::mark_taken(const extent_run& which) noexcept {
  const std::size_t end = which.first + which.count;
  for (std::size_t i = which.first; i < end; ++i) {
    ISO_ASSERT(!taken_.contains(i), "an extent is taken and given back in turn");
    taken_.insert(i);
  }
  held_.fetch_add_relaxed(which.count);
  if (which.first == lowest_free_) lowest_free_ = end;
}

void extent_table::mark_free(const extent_run& which) noexcept {
  for (std::size_t i = which.first; i < which.first + which.count; ++i) {
    ISO_ASSERT(taken_.contains(i), "an extent is taken and given back in turn");
    taken_.erase(i);
  }
  held_.fetch_sub_relaxed(which.count);
  lowest_free_ = std::min(lowest_free_, which.first);
}

bool extent_table::is_valid() const noexcept {
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    held += is_taken(i) ? 1 : 0;
    if (is_taken(i) ? i >= used() : i < lowest_free_) return false;
    if (is_taken(i) || i >= used()) continue;
    if (!row(i).load().empty_for_good() || row(i).run.load_relaxed() != 0) return false;
  }
  return held == held_.load_relaxed();
}

}  // namespace isotherm::heap
