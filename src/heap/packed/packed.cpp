#include "heap/packed/packed.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "heap/brake.hpp"
#include "heap/poison.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/bus_error.hpp"

namespace isotherm::heap {

namespace {

/// A table of `count` rows, zeroed, for as long as the process lives.
template <class Row>
base::result<Row*> make_table(std::size_t count) {
  const std::size_t page = os::page_bytes();
  const std::size_t bytes = (count * sizeof(Row) + page - 1) / page * page;
  auto table = os::reserve(bytes, page);
  if (!table) return std::unexpected(table.error());
  if (auto usable = os::commit(*table, bytes); !usable) return std::unexpected(usable.error());
  return reinterpret_cast<Row*>(*table);
}

}  // namespace

base::result<void> packed_heap::open(std::byte* begin, std::size_t bytes,
                                     std::unique_ptr<backing> pages, freed_room treatment) {
  begin_ = begin;
  extent_count_ = bytes / kExtentBytes;
  pages_ = std::move(pages);
  is_on_disk_ = pages_->is_on_disk();
  taken_.assign((extent_count_ + 63) / 64, 0);
  emptied_.assign(taken_.size(), 0);
  auto rows = make_table<extent>(extent_count_);
  if (!rows) return std::unexpected(rows.error());
  extents_ = *rows;
  if (treatment == freed_room::left) {
    auto ends = make_table<object_ends>(extent_count_);
    if (!ends) return std::unexpected(ends.error());
    ends_ = *ends;
    auto out = make_table<pages_out>(extent_count_);
    if (!out) return std::unexpected(out.error());
    out_ = *out;
  }
  return pages_->map(begin, bytes);
}

void* packed_heap::allocate(std::size_t bytes, recycling room, band among,
                            local_state& mine) noexcept {
  if (pages_->is_frozen()) return nullptr;
  const bool small = bytes <= kSmallBytesMax;
  void* object = nullptr;
  if (!ends_ && small && room == recycling::allowed) {
    object = take_hole(units_of(bytes), mine);
  }
  if (object == nullptr) {
    object = small ? append(units_of(bytes), room, among, mine) : allocate_run(bytes, room);
  }
  if (object == nullptr) return nullptr;
  unpoison(header_of(object), kHeaderBytes + readable_bytes(bytes));
  const auto begin_life = [object, bytes] {
    write_header(object, {kLiveMark, static_cast<std::uint32_t>(bytes)});
  };
  if (!is_on_disk_) {
    begin_life();
  } else if (!os::survives(begin_life)) {
    return nullptr;  // the disk does not give the page: the room stays taken
  }
  return object;
}

/// Null also for a hole in an extent that became sparse: it is about to be emptied.
void* packed_heap::take_hole(std::size_t units, const local_state& mine) noexcept {
  void* const hole = holes_.take(units, mine.spread);
  if (hole == nullptr || !is_sparse(hole, kSparseShare)) return hole;
  hole_cache::mark(hole, kFreedMark);
  free_units(index_of(hole), units);
  return nullptr;
}

void* packed_heap::append(std::size_t units, recycling room, band among,
                          local_state& mine) noexcept {
  for (;;) {
    const std::uint32_t pair = among < kColdestBand ? among : kColdestBand + mine.shard % kShards;
    const std::uint32_t slot = 2 * pair + (units <= kTinyUnits ? 0 : 1);
    const std::uint32_t index = open_[slot].index.load_acquire();
    if (index != kNone) {
      const append_attempt made = append_to(index, units);
      // From now on another extent than the one where threads meet.
      if (made.is_contended) mine.shard = mine.spread;
      if (made.object != nullptr) return made.object;
    }
    // No wait if the last one went back empty: it was waited for, and has left no memory in use.
    if (!open_[slot].went_back.exchange_acq_rel(false)) slow(1, room);
    if (!open_another(slot, index)) return nullptr;
  }
}

packed_heap::append_attempt packed_heap::append_to(std::uint32_t index,
                                                   std::size_t units) noexcept {
  extent& row = extents_[index];
  bool is_contended = false;
  extent_word seen = row.load();
  for (;;) {
    const std::size_t gap = is_on_disk_ ? gap_before(seen.cursor(), units) : 0;
    if (!seen.has_room(gap + units)) break;
    const std::size_t cursor = seen.cursor() + gap;
    if (row.word.compare_exchange_acq_rel(seen.raw, seen.appended(gap, units).raw)) {
      if (ends_) ends_[index].mark(cursor + units - 1);
      return {address_of(index) + 2 * kHeaderBytes + cursor * kUnitBytes, is_contended};
    }
    is_contended = true;
  }
  return {nullptr, is_contended};
}

/// Before an application's thread takes `count` extents of NEW or HOT.
void packed_heap::slow(std::size_t count, recycling room) const noexcept {
  if (!ends_ && room == recycling::allowed) loading_brake.wait(count);
}

/// Replaces `full` by the lowest free extent, unless another thread does so at the same time. False
/// when there is none.
bool packed_heap::open_another(std::uint32_t slot, std::uint32_t full) noexcept {
  base::atomic<std::uint32_t>& open = open_[slot].index;
  if (open.load_acquire() != full) return true;
  const std::size_t index = take_extents(1);
  if (index == extent_count_) return open.load_acquire() != full;
  extents_[index].among.store_relaxed(
      static_cast<band>(std::min<std::uint32_t>(slot / 2, kColdestBand)));
  extents_[index].run.store_relaxed(0);
  if (ends_) ends_[index].clear();
  extents_[index].word.store_release(0);
  std::uint32_t found = full;
  if (!open.compare_exchange_acq_rel(found, static_cast<std::uint32_t>(index))) {
    close(index);  // not needed: closed and empty it goes back
  } else if (full != kNone) {
    close(full);
  }
  return true;
}

/// True: it was empty, and has been given back.
bool packed_heap::close(std::size_t index) noexcept {
  extent& row = extents_[index];
  extent_word seen = row.load();
  while (!row.word.compare_exchange_acq_rel(seen.raw, seen.closed_now().raw)) {
  }
  const bool is_empty = seen.closed_now().empty_for_good();
  if (is_empty) give_back(index, 1);
  return is_empty;
}

void* packed_heap::allocate_run(std::size_t bytes, recycling room) noexcept {
  const std::size_t count = extents_of(bytes);
  slow(count, room);
  const std::size_t first = take_extents(count);
  if (first == extent_count_) return nullptr;
  extents_[first].run_bytes.store_relaxed(static_cast<std::uint32_t>(bytes));
  return address_of(first) + 2 * kHeaderBytes;
}

std::size_t packed_heap::room_of(const void* object) const noexcept {
  const std::size_t index = index_of(object);
  const extent& row = extents_[index];
  if (row.run.load_relaxed() != 0) return row.run_bytes.load_relaxed();
  const auto first =
      static_cast<std::size_t>(static_cast<const std::byte*>(object) - address_of(index)) /
          kUnitBytes -
      1;
  return ends_[index].units_from(first) * kUnitBytes - kHeaderBytes;
}

void packed_heap::deallocate(void* object, std::size_t bytes, recycling room,
                             const local_state& mine) noexcept {
  const std::size_t index = index_of(object);
  const std::size_t units = units_of(bytes);
  const bool small = bytes <= kSmallBytesMax;
  // A sparse extent is about to be emptied: what is put there would be moved out again.
  const auto is_worth_keeping = [this, object] { return !is_sparse(object, kSparseShare); };
  if (!ends_ && small && room == recycling::allowed &&
      holes_.keep(object, units, mine.spread, is_worth_keeping)) {
    return;
  }
  poison(header_of(object), kHeaderBytes + readable_bytes(bytes));
  if (small) {
    free_units(index, units);
  } else {
    free_run(index);
  }
}

void packed_heap::flush_holes() noexcept {
  holes_.flush([this](void* hole, std::size_t units) { free_units(index_of(hole), units); });
}

void packed_heap::free_units(std::size_t index, std::size_t units) noexcept {
  const extent_word before{extents_[index].word.fetch_sub_acq_rel(units)};
  ISO_CHECK(before.live() >= units, "an extent holds what is freed from it");
  if (extent_word{before.raw - units}.empty_for_good()) give_back(index, 1);
}

void packed_heap::free_run(std::size_t index) noexcept {
  extent& row = extents_[index];
  ISO_CHECK(row.run.load_relaxed() > 0, "an object of this size heads a run");
  const extent_word before{row.word.fetch_sub_acq_rel(1)};
  if (extent_word{before.raw - 1}.empty_for_good()) give_back_whole(index);
}

/// An extent, or the run that it heads.
void packed_heap::give_back_whole(std::size_t index) noexcept {
  extent& row = extents_[index];
  const std::uint32_t count = std::max(row.run.load_relaxed(), 1U);
  row.run.store_relaxed(0);
  give_back(index, count);
}

void packed_heap::keep_extent(const void* object) noexcept {
  const extent_word before{extents_[index_of(object)].word.fetch_add_acq_rel(extent_word::kReader)};
  ISO_CHECK(before.readers() < extent_word::kMostReaders,
            "16,777,215 misses of one MiB of COLD are kept: let some go");
}

void packed_heap::release_extent(const void* object) noexcept {
  const std::size_t index = index_of(object);
  const extent_word before{extents_[index].word.fetch_sub_acq_rel(extent_word::kReader)};
  ISO_CHECK(before.readers() > 0, "an extent that is released was kept");
  if (extent_word{before.raw - extent_word::kReader}.empty_for_good()) give_back_whole(index);
}

base::page_span packed_heap::place_of(const void* object) const noexcept {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(object) - begin_);
  const std::uint64_t begin = (offset - kHeaderBytes) / base::kPageBytes * base::kPageBytes;
  const std::uint64_t end = offset + room_of(object);
  return {begin, (end - begin + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes};
}

bool packed_heap::is_out(const void* object) const noexcept {
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

void packed_heap::mark_out(std::size_t first, std::size_t count) noexcept {
  for (std::size_t i = first; i < first + count; ++i) out_[i].mark_all_out();
}

void packed_heap::mark_page_out(std::size_t first, std::size_t page) noexcept {
  out_[first + page / pages_out::kPages].mark_out(page % pages_out::kPages);
}

void packed_heap::mark_in(const base::page_span& where) noexcept {
  const std::uint64_t first = where.offset / base::kPageBytes;
  for (std::uint64_t page = first; page < first + where.bytes / base::kPageBytes; ++page) {
    out_[page / pages_out::kPages].mark_in(page % pages_out::kPages);
  }
}

void packed_heap::note_use(const void* object) noexcept {
  auto& hinted = extents_[index_of(object)].hinted;
  if (!hinted.load_relaxed() && !is_out(object)) return;  // the lines stay shared
  hinted.store_relaxed(false);
  mark_in(place_of(object));
}

/// Called once per emptying, by whoever made the extent closed and empty: nobody else touches it.
void packed_heap::give_back(std::size_t first, std::size_t count) noexcept {
  if (pages_->is_frozen()) return;
  if (is_on_disk_) {
    const std::lock_guard lock(mutex_);
    if (treatment_ == emptied::left) {
      for (std::size_t i = first; i < first + count; ++i) {
        emptied_[i / 64] |= std::uint64_t{1} << (i % 64);
      }
      lowest_emptied_ = std::min(lowest_emptied_, first);
      return;
    }
  }
  give_back_now({first, count});
}

void packed_heap::give_back_now(const extent_run& which) noexcept {
  pages_->give_back(which.first * kExtentBytes, which.count * kExtentBytes);
  const std::lock_guard lock(mutex_);
  mark_free(which.first, which.count);
}

void packed_heap::treat_emptied(emptied how) noexcept {
  if (!is_on_disk_) return;
  {
    const std::lock_guard lock(mutex_);
    treatment_ = how;
  }
  if (how == emptied::given_back) give_back_emptied();
}

/// Neighbours that were emptied; from here on they are the caller's. None: a count of 0.
packed_heap::extent_run packed_heap::take_emptied() noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t used = used_.load_relaxed();
  std::size_t first = lowest_emptied_;
  while (first < used && !is_emptied(first)) ++first;
  std::size_t end = first;
  for (; end < used && is_emptied(end); ++end) {
    emptied_[end / 64] &= ~(std::uint64_t{1} << (end % 64));
  }
  lowest_emptied_ = end;
  return {first, end - first};
}

std::uint64_t packed_heap::give_back_emptied() noexcept {
  if (pages_->is_frozen()) return 0;
  std::uint64_t bytes = 0;
  for (extent_run next = take_emptied(); next.count > 0; next = take_emptied()) {
    give_back_now(next);
    bytes += next.count * kExtentBytes;
  }
  return bytes;
}

/// The lowest `count` free neighbours, with pages; extent_count_ when there are none, not even
/// after what was emptied has been given back.
std::size_t packed_heap::take_extents(std::size_t count) noexcept {
  const std::size_t first = try_to_take(count);
  return first == extent_count_ && give_back_emptied() > 0 ? try_to_take(count) : first;
}

/// They make up a run with its object, to which nobody else has a pointer, so that the system is
/// asked for pages outside of the mutex: neither those who allocate nor those who free wait for a
/// disk.
std::size_t packed_heap::try_to_take(std::size_t count) noexcept {
  std::size_t first = 0;
  {
    const std::lock_guard lock(mutex_);
    first = choose_extents(count);
  }
  if (first == extent_count_) return extent_count_;
  const auto taken = pages_->take(first * kExtentBytes, count * kExtentBytes);
  if (taken) return first;
  refusal_code_.store_relaxed(taken.error().code);
  extents_[first].word.store_release(extent_word::kClosed);
  extents_[first].run.store_relaxed(0);
  give_back_now({first, count});  // what the disk gave of it
  return extent_count_;
}

std::size_t packed_heap::choose_extents(std::size_t count) noexcept {
  const std::size_t first = find_free(count);
  if (first + count > extent_count_) return extent_count_;
  const std::size_t used = used_.load_relaxed();
  if (first + count > used) poison(address_of(used), (first + count - used) * kExtentBytes);
  for (std::size_t i = first; i < first + count; ++i) {
    extents_[i].hinted.store_relaxed(false);
    extents_[i].unwritten.store_relaxed(false);
    extents_[i].thinned.store_relaxed(extent::thinning::none);
    extents_[i].among.store_relaxed(kColdestBand);
    extents_[i].run.store_relaxed(0);
    if (out_) out_[i].mark_all_in();
    extents_[i].word.store_release(extent_word::kClosed);
  }
  extents_[first].run.store_relaxed(static_cast<std::uint32_t>(count));
  extents_[first].word.store_release(extent_word::kClosed | 1U);
  // Release: whoever walks [0, used_) sees rows in a state that a walk understands.
  if (first + count > used) used_.store_release(first + count);
  mark_taken(first, count);
  return first;
}

/// Lowest index of `count` free neighbours; extents from used_ on are all free.
std::size_t packed_heap::find_free(std::size_t count) const noexcept {
  const std::size_t used = used_.load_relaxed();
  std::size_t run = 0;
  std::size_t i = lowest_free_;
  for (; i < used && run < count; ++i) {
    if (i % 64 == 0 && taken_[i / 64] == ~std::uint64_t{0}) {
      run = 0;
      i += 63;
    } else {
      run = is_taken(i) ? 0 : run + 1;
    }
  }
  return std::min(i, used) - run;
}

void packed_heap::mark_taken(std::size_t first, std::size_t count) noexcept {
  for (std::size_t i = first; i < first + count; ++i) {
    ISO_ASSERT(!is_taken(i), "an extent is taken and given back in turn");
    taken_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  held_.fetch_add_relaxed(count);
  if (first == lowest_free_) lowest_free_ = first + count;
}

void packed_heap::mark_free(std::size_t first, std::size_t count) noexcept {
  for (std::size_t i = first; i < first + count; ++i) {
    ISO_ASSERT(is_taken(i), "an extent is taken and given back in turn");
    taken_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }
  held_.fetch_sub_relaxed(count);
  lowest_free_ = std::min(lowest_free_, first);
}

bool packed_heap::is_sparse(const void* object, double live_share) const noexcept {
  const extent_word seen = extents_[index_of(object)].load();
  return is_closed(object) &&
         static_cast<double>(seen.live()) < live_share * static_cast<double>(seen.cursor());
}

bool packed_heap::is_closed(const void* object) const noexcept {
  const extent& row = extents_[index_of(object)];
  return row.load().closed() && row.run.load_relaxed() == 0;
}

packing packed_heap::packing_of(std::size_t index) const noexcept {
  const extent_word seen = extents_[index].load();
  if (seen.empty_for_good()) return {};
  const std::uint64_t run = extents_[index].run.load_relaxed();
  if (run != 0) return {run * kExtentBytes, run * kExtentBytes};
  return {.live_bytes = seen.live() * kUnitBytes, .used_bytes = seen.cursor() * kUnitBytes};
}

packing packed_heap::packing_now() const noexcept {
  packing sum;
  const std::size_t used = used_.load_acquire();
  for (std::size_t i = 0; i < used; ++i) {
    const packing one = packing_of(i);
    sum.live_bytes += one.live_bytes;
    sum.used_bytes += one.used_bytes;
  }
  return sum;
}

std::uintptr_t packed_heap::used_end() const noexcept {
  return reinterpret_cast<std::uintptr_t>(address_of(used_.load_acquire()));
}

bool packed_heap::is_valid() const {
  const std::size_t used = used_.load_acquire();
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < used;) {
    const extent_word seen = extents_[i].load();
    const std::size_t run = extents_[i].run.load_relaxed();
    if (seen.live() > seen.cursor() && run == 0) return false;
    if (seen.cursor() > kExtentUnits) return false;
    if (is_taken(i) == (seen.empty_for_good() && !is_emptied(i))) return false;
    const std::size_t count = std::max<std::size_t>(run, 1);
    for (std::size_t k = i + 1; k < i + count; ++k) {
      if (!is_taken(k) || !extents_[k].load().empty_for_good()) return false;
    }
    held += is_taken(i) ? count : 0;
    i += count;
  }
  return held == held_.load_relaxed();
}

}  // namespace isotherm::heap
