#include "heap/packed/packed.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "heap/brake.hpp"
#include "heap/poison.hpp"

namespace isotherm::heap {

base::result<void> packed_heap::open(std::byte* begin, std::size_t bytes,
                                     std::unique_ptr<backing> pages, freed_room treatment) {
  if (auto opened = extents_.open(begin, bytes, std::move(pages)); !opened) return opened;
  return treatment == freed_room::left ? cold_.open() : base::result<void>{};
}

void* packed_heap::allocate(std::size_t bytes, recycling room, band among,
                            local_state& mine) noexcept {
  if (extents_.pages().is_frozen()) return nullptr;
  const bool small = bytes <= kSmallBytesMax;
  void* object = nullptr;
  if (!cold_.is_open() && small && room == recycling::allowed) {
    object = take_hole(units_of(bytes), mine);
  }
  if (object == nullptr) {
    object = small ? append(units_of(bytes), room, among, mine) : allocate_run(bytes, room);
  }
  if (object == nullptr) return nullptr;
  unpoison(header_of(object), kHeaderBytes + readable_bytes(bytes));
  write_header(object, {kLiveMark, static_cast<std::uint32_t>(bytes)});
  return object;
}

/// Null also for a hole in an extent that became sparse or is being emptied.
void* packed_heap::take_hole(std::size_t units, const local_state& mine) noexcept {
  void* const hole = holes_.take(units, mine.spread);
  if (hole == nullptr || is_worth_filling(hole)) return hole;
  hole_cache::mark(hole, kFreedMark);
  free_units(extents_.index_of(hole), units);
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
  extent& row = extents_.row(index);
  bool is_contended = false;
  extent_word seen = row.load();
  for (;;) {
    const std::size_t gap = extents_.is_logged() ? gap_before(seen.cursor(), units) : 0;
    if (!seen.has_room(gap + units)) break;
    const std::size_t cursor = seen.cursor() + gap;
    if (row.word.compare_exchange_acq_rel(seen.raw, seen.appended(gap, units).raw)) {
      if (gap > 0) row.gap_units.fetch_add_relaxed(static_cast<std::uint16_t>(gap));
      if (cold_.is_open()) cold_.mark_end(index, cursor + units - 1);
      return {extents_.address_of(index) + 2 * kHeaderBytes + cursor * kUnitBytes, is_contended};
    }
    is_contended = true;
  }
  return {nullptr, is_contended};
}

/// Before an application's thread takes `count` extents of NEW or HOT.
void packed_heap::slow(std::size_t count, recycling room) const noexcept {
  if (!cold_.is_open() && room == recycling::allowed) loading_brake.wait(count);
}

/// Replaces `full` by the lowest free extent, unless another thread does so at the same time. False
/// when there is none.
bool packed_heap::open_another(std::uint32_t slot, std::uint32_t full) noexcept {
  base::atomic<std::uint32_t>& open = open_[slot].index;
  if (open.load_acquire() != full) return true;
  const std::optional<std::size_t> index = take_extents(1);
  if (!index) return open.load_acquire() != full;
  extent& row = extents_.row(*index);
  row.among.store_relaxed(static_cast<band>(std::min<std::uint32_t>(slot / 2, kColdestBand)));
  row.run.store_relaxed(0);
  row.gap_units.store_relaxed(0);
  if (cold_.is_open()) cold_.forget_objects(*index);
  row.word.store_release(0);
  std::uint32_t found = full;
  if (!open.compare_exchange_acq_rel(found, static_cast<std::uint32_t>(*index))) {
    close(*index);  // not needed: closed and empty it goes back
  } else if (full != kNone) {
    close(full);
  }
  return true;
}

/// True: it was empty, and has been given back.
bool packed_heap::close(std::size_t index) noexcept {
  extent& row = extents_.row(index);
  extent_word seen = row.load();
  while (!row.word.compare_exchange_acq_rel(seen.raw, seen.closed_now().raw)) {
  }
  const bool is_empty = seen.closed_now().empty_for_good();
  if (is_empty) give_back(index);
  return is_empty;
}

void* packed_heap::allocate_run(std::size_t bytes, recycling room) noexcept {
  const std::size_t count = extents_of(bytes);
  slow(count, room);
  const std::optional<std::size_t> first = take_extents(count);
  if (!first) return nullptr;
  extents_.row(*first).run_bytes.store_relaxed(static_cast<std::uint32_t>(bytes));
  return extents_.address_of(*first) + 2 * kHeaderBytes;
}

void packed_heap::deallocate(void* object, std::size_t bytes, recycling room,
                             const local_state& mine) noexcept {
  const std::size_t index = extents_.index_of(object);
  const std::size_t units = units_of(bytes);
  const bool small = bytes <= kSmallBytesMax;
  const auto is_worth_keeping = [this, object] { return is_worth_filling(object); };
  if (!cold_.is_open() && small && room == recycling::allowed &&
      holes_.keep(object, units, mine.spread, is_worth_keeping)) {
    return;
  }
  // The memory of a logged COLD may be on its way to the file at this moment.
  if (!cold_.is_open() || !extents_.is_logged()) {
    poison(header_of(object), kHeaderBytes + readable_bytes(bytes));
  }
  if (small) {
    free_units(index, units);
  } else {
    free_run(index);
  }
}

void packed_heap::flush_holes() noexcept {
  holes_.flush(
      [this](void* hole, std::size_t units) { free_units(extents_.index_of(hole), units); });
}

void packed_heap::free_units(std::size_t index, std::size_t units) noexcept {
  const extent_word before{extents_.row(index).word.fetch_sub_acq_rel(units)};
  ISO_CHECK(before.live() >= units, "an extent holds what is freed from it");
  if (extent_word{before.raw - units}.empty_for_good()) give_back(index);
}

void packed_heap::free_run(std::size_t index) noexcept {
  extent& row = extents_.row(index);
  ISO_CHECK(row.run.load_relaxed() > 0, "an object of this size heads a run");
  const extent_word before{row.word.fetch_sub_acq_rel(1)};
  if (extent_word{before.raw - 1}.empty_for_good()) give_back(index);
}

/// Acquires extents as extent_table::acquire() does. When it has none, gives COLD's emptied extents
/// back first.
std::optional<std::size_t> packed_heap::take_extents(std::size_t count) noexcept {
  std::optional<std::size_t> first = extents_.acquire(count);
  if (!cold_.is_open()) return first;
  if (!first && cold_.give_back_emptied() > 0) first = extents_.acquire(count);
  if (first) cold_.note_taken(*first, count);
  return first;
}

/// Gives back an extent, or the run that it heads. Called once per emptying, by the thread that
/// made it closed and empty: no other touches it.
void packed_heap::give_back(std::size_t first) noexcept {
  if (cold_.is_open()) {
    cold_.give_back(first);
  } else {
    extents_.give_back(extents_.dissolve(first));
  }
}

bool packed_heap::is_sparse(const void* object, double live_share) const noexcept {
  const extent_word seen = extents_.row(extents_.index_of(object)).load();
  return is_closed(object) &&
         static_cast<double>(seen.live()) < live_share * static_cast<double>(seen.cursor());
}

/// A sparse extent is about to be emptied: an object that is put there would be moved out again.
bool packed_heap::is_worth_filling(const void* hole) const noexcept {
  return !extents_.row(extents_.index_of(hole)).leaving.load_relaxed() &&
         !is_sparse(hole, kSparseShare);
}

void packed_heap::begin_emptying(std::size_t index) noexcept {
  extents_.row(index).leaving.store_relaxed(true);
}

bool packed_heap::is_closed(const void* object) const noexcept {
  const extent& row = extents_.row(extents_.index_of(object));
  return row.load().closed() && row.run.load_relaxed() == 0;
}

packing packed_heap::packing_of(std::size_t index) const noexcept {
  const extent_word seen = extents_.row(index).load();
  if (seen.empty_for_good()) return {};
  const std::uint64_t run = extents_.row(index).run.load_relaxed();
  if (run != 0) return {run * kExtentBytes, run * kExtentBytes};
  return {.live_bytes = seen.live() * kUnitBytes,
          .used_bytes = extents_.row(index).filled(seen) * kUnitBytes};
}

packing packed_heap::packing_now() const noexcept {
  packing sum;
  const std::size_t used = extents_.used();
  for (std::size_t i = 0; i < used; ++i) {
    const packing one = packing_of(i);
    sum.live_bytes += one.live_bytes;
    sum.used_bytes += one.used_bytes;
  }
  return sum;
}

void packed_heap::lock_for_fork() {
  holes_.lock_for_fork();
  cold_.lock_for_fork();
  extents_.lock_for_fork();
}

void packed_heap::unlock_after_fork() {
  extents_.unlock_after_fork();
  cold_.unlock_after_fork();
  holes_.unlock_after_fork();
}

bool packed_heap::is_valid() const {
  const std::size_t used = extents_.used();
  for (std::size_t i = 0; i < used;) {
    const extent_word seen = extents_.row(i).load();
    const std::size_t run = extents_.row(i).run.load_relaxed();
    if (seen.live() > seen.cursor() && run == 0) return false;
    if (seen.cursor() > kExtentUnits) return false;
    const bool is_left = cold_.is_open() && cold_.is_left(i);
    if (extents_.is_taken(i) == (seen.empty_for_good() && !is_left)) return false;
    const std::size_t count = std::max<std::size_t>(run, 1);
    for (std::size_t k = i + 1; k < i + count; ++k) {
      if (!extents_.is_taken(k) || !extents_.row(k).load().empty_for_good()) return false;
    }
    i += count;
  }
  return extents_.is_valid();
}

}  // namespace isotherm::heap
