#include "heap/packed/cold_extents.hpp"

#include <algorithm>

#include "heap/packed/rows.hpp"

namespace isotherm::heap {

base::result<void> cold_extents::open() {
  extents_ = table_.rows();
  left_ = extent_set(table_.count());
  if (table_.is_logged()) {
    in_memory_ = extent_set(table_.count());
  } else {
    auto out = make_rows<pages_out>(table_.count());
    if (!out) return std::unexpected(out.error());
    out_ = *out;
  }
  auto ends = make_rows<object_ends>(table_.count());
  if (!ends) return std::unexpected(ends.error());
  ends_ = *ends;
  return {};
}

std::size_t cold_extents::room_of(const void* object) const noexcept {
  const std::size_t index = extents_.index_of(object);
  const extent& row = extents_.row(index);
  if (row.run.load_relaxed() != 0) return row.run_bytes.load_relaxed();
  const auto in_extent =
      static_cast<std::size_t>(static_cast<const std::byte*>(object) - extents_.address_of(index));
  return ends_[index].units_from(in_extent / kUnitBytes - 1) * kUnitBytes - kHeaderBytes;
}

base::page_span cold_extents::place_of(const void* object) const noexcept {
  const auto offset =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(object) - extents_.begin());
  const std::uint64_t begin = (offset - kHeaderBytes) / base::kPageBytes * base::kPageBytes;
  const std::uint64_t end = offset + room_of(object);
  return {begin, (end - begin + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes};
}

bool cold_extents::is_out(const void* object) const noexcept {
  if (out_ == nullptr) return extents_.row(extents_.index_of(object)).written.load_acquire();
  constexpr std::size_t kPages = pages_out::kPages;
  const base::page_span where = place_of(object);
  std::size_t page = where.offset / base::kPageBytes;
  const std::size_t end = page + where.bytes / base::kPageBytes;
  while (page < end) {
    const std::size_t next = std::min(end, (page / kPages + 1) * kPages);
    if (out_[page / kPages].is_any_out(page % kPages, (next - 1) % kPages)) return true;
    page = next;
  }
  return false;
}

void cold_extents::mark_out(std::size_t first, std::size_t count) noexcept {
  for (std::size_t i = first; i < first + count; ++i) out_[i].mark_all_out();
}

void cold_extents::mark_page_out(std::size_t first, std::size_t page) noexcept {
  out_[first + page / pages_out::kPages].mark_out(page % pages_out::kPages);
}

void cold_extents::mark_in(const base::page_span& where) noexcept {
  const std::uint64_t first = where.offset / base::kPageBytes;
  for (std::uint64_t page = first; page < first + where.bytes / base::kPageBytes; ++page) {
    out_[page / pages_out::kPages].mark_in(page % pages_out::kPages);
  }
}

void cold_extents::note_use(const void* object) noexcept {
  if (out_ == nullptr) return;
  auto& hinted = extents_.row(extents_.index_of(object)).hinted;
  if (!hinted.load_relaxed() && !is_out(object)) return;  // the lines stay shared
  hinted.store_relaxed(false);
  mark_in(place_of(object));
}

void cold_extents::note_taken(std::size_t first, std::size_t count) noexcept {
  if (out_ != nullptr) {
    for (std::size_t i = first; i < first + count; ++i) out_[i].mark_all_in();
    return;
  }
  memory_bytes_.fetch_add_relaxed(count * kExtentBytes);
  const std::lock_guard lock(mutex_);
  in_memory_.insert(first);
}

/// Ends what note_taken() began, once for each extent or run: by note_written(), or when it was
/// emptied before that.
void cold_extents::leave_memory(const extent_run& which) noexcept {
  const std::lock_guard lock(mutex_);
  if (!in_memory_.contains(which.first)) return;
  in_memory_.erase(which.first);
  memory_bytes_.fetch_sub_relaxed(which.count * kExtentBytes);
}

std::vector<std::size_t> cold_extents::in_memory() const {
  std::vector<std::size_t> found;
  const std::lock_guard lock(mutex_);
  in_memory_.append_to(found, table_.used());
  return found;
}

bool cold_extents::pin_closed(std::size_t first) noexcept {
  extent& row = extents_.row(first);
  extent_word seen = row.load();
  while (seen.closed() && seen.live() > 0) {
    if (row.word.compare_exchange_acq_rel(seen.raw, seen.raw + extent_word::kReader)) return true;
  }
  return false;
}

void cold_extents::note_written(std::size_t first) noexcept {
  extent& row = extents_.row(first);
  row.written.store_release(true);
  leave_memory({first, std::max<std::size_t>(row.run.load_relaxed(), 1)});
}

void cold_extents::pin_extent(const void* object) noexcept {
  extent& row = extents_.row(extents_.index_of(object));
  const extent_word before{row.word.fetch_add_acq_rel(extent_word::kReader)};
  ISO_CHECK(before.readers() < extent_word::kMostReaders,
            "16,777,215 misses of one MiB of COLD are kept: let some go");
}

void cold_extents::unpin_extent(const void* object) noexcept { unpin(extents_.index_of(object)); }

void cold_extents::unpin(std::size_t index) noexcept {
  const extent_word before{extents_.row(index).word.fetch_sub_acq_rel(extent_word::kReader)};
  ISO_CHECK(before.readers() > 0, "an extent that is unpinned was pinned");
  if (extent_word{before.raw - extent_word::kReader}.empty_for_good()) give_back(index);
}

void cold_extents::give_back(std::size_t first) noexcept {
  const extent_run whole = table_.dissolve(first);
  if (out_ == nullptr) leave_memory(whole);
  if (!leave(whole)) table_.give_back(whole);
}

/// Leaves a run to give_back_emptied(). Returns false when it is to be given back at once.
bool cold_extents::leave(const extent_run& emptied_now) noexcept {
  const std::lock_guard lock(mutex_);
  if (treatment_ != emptied::left) return false;
  const std::size_t end = emptied_now.first + emptied_now.count;
  for (std::size_t i = emptied_now.first; i < end; ++i) left_.insert(i);
  lowest_left_ = std::min(lowest_left_, emptied_now.first);
  return true;
}

void cold_extents::treat_emptied(emptied how) noexcept {
  if (!table_.is_logged()) return;
  {
    const std::lock_guard lock(mutex_);
    treatment_ = how;
  }
  if (how == emptied::given_back) give_back_emptied();
}

/// Returns neighbours that were left, which are the caller's from here on; a count of 0: none was.
extent_run cold_extents::take_left() noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t used = table_.used();
  std::size_t first = lowest_left_;
  while (first < used && !left_.contains(first)) ++first;
  std::size_t end = first;
  for (; end < used && left_.contains(end); ++end) left_.erase(end);
  lowest_left_ = end;
  return {first, end - first};
}

std::uint64_t cold_extents::give_back_emptied() noexcept {
  if (table_.pages().is_frozen()) return 0;
  std::uint64_t bytes = 0;
  for (extent_run next = take_left(); next.count > 0; next = take_left()) {
    table_.give_back(next);
    bytes += next.count * kExtentBytes;
  }
  return bytes;
}

}  // namespace isotherm::heap
