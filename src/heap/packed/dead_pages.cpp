// Pages of NEW and HOT in which nothing lives: in extents that a few objects keep from being given
// back as a whole, as what is used all the time vetoes its moves, and of a heap full of such
// objects each extent has one; and in extents that are kept only because they are still appended
// to.
#include <algorithm>
#include <bitset>

#include "base/page.hpp"
#include "heap/header.hpp"
#include "heap/packed/packed.hpp"

namespace isotherm::heap {

namespace {

using thinning = extent::thinning;

constexpr std::size_t kPages = kExtentBytes / base::kPageBytes;
/// An extent is thinned, its dead pages given back, when a smaller share than this of its appended
/// units lives.
constexpr double kThinShare = 0.5;

/// Pages of the extent at `begin` in which an object lives, or may.
std::bitset<kPages> live_pages(const std::byte* begin, std::size_t cursor) noexcept {
  std::bitset<kPages> live;
  const auto mark = [&live](std::size_t first_unit, std::size_t end_unit) {
    const std::size_t first = first_unit * kUnitBytes + kHeaderBytes;
    const std::size_t end = end_unit * kUnitBytes + kHeaderBytes;
    for (std::size_t page = first / base::kPageBytes; page * base::kPageBytes < end; ++page) {
      live.set(page);
    }
  };
  for (std::size_t unit = 0; unit < cursor;) {
    const header found = racy_header(begin + 2 * kHeaderBytes + unit * kUnitBytes);
    if (found.mark != kLiveMark && found.mark != kFreedMark) {
      // The thread that got this room has not written its header yet: it is not known which objects
      // lie behind it.
      mark(unit, cursor);
      break;
    }
    const std::size_t next = std::min(unit + units_of(found.bytes), cursor);
    if (found.mark == kLiveMark) mark(unit, next);
    unit = next;
  }
  return live;
}

}  // namespace

/// Keeps a closed extent in which something lives from being given back, as an object of one unit
/// would. False: it is not such an extent, or has no room for one more unit. One that is being
/// opened looks like one, but nothing was appended to it: opening it would undo this.
bool packed_heap::pin(std::size_t index) noexcept {
  extent& row = extents_.row(index);
  extent_word seen = row.load();
  while (seen.may_be_pinned() && row.run.load_relaxed() == 0) {
    if (row.word.compare_exchange_acq_rel(seen.raw, seen.raw + 1)) return true;
  }
  return false;
}

/// Marks a sparse extent as one to thin; false: it is none. The pin keeps it from going back
/// between the look and the mark: the mark would fall on the extent opened there next, which is not
/// sparse, and holes of it would be taken while thin() frees their pages.
/// Relaxed: the thread that marks an extent thins it, and the pin orders the mark with reset().
bool packed_heap::choose_to_thin(std::size_t index) noexcept {
  const std::byte* const begin = extents_.address_of(index);
  if (!is_sparse(begin, kThinShare) || !pin(index)) return false;
  extent& row = extents_.row(index);
  if (row.thinned.load_relaxed() == thinning::none && is_sparse(begin, kThinShare)) {
    row.thinned.store_relaxed(thinning::chosen);
  }
  const bool is_chosen = row.thinned.load_relaxed() == thinning::chosen;
  free_units(index, 1);
  return is_chosen;
}

std::uint64_t packed_heap::thin(std::size_t index) noexcept {
  if (!pin(index)) return 0;
  extent& row = extents_.row(index);
  std::uint64_t released = 0;
  // Chosen still: it was not given back and opened anew since.
  if (row.thinned.load_relaxed() == thinning::chosen) {
    const std::bitset<kPages> live = live_pages(extents_.address_of(index), row.load().cursor());
    for (std::size_t page = 0; page < kPages;) {
      std::size_t end = page;
      while (end < kPages && !live[end]) ++end;
      if (end > page) {
        extents_.pages().give_back(index * kExtentBytes + page * base::kPageBytes,
                                   (end - page) * base::kPageBytes);
        released += (end - page) * base::kPageBytes;
      }
      page = end + 1;
    }
    row.thinned.store_relaxed(thinning::done);
  }
  free_units(index, 1);
  return released;
}

/// Closes open extents in which nothing lives. The thread that takes an extent out of its slot
/// closes it, here as in open_another(): no extent is closed twice, which would give it back twice.
/// The exchange acquires and releases as the one in open_another() does, and appenders that have
/// read the slot before fail on `closed`. Returns the bytes that had been appended to the extents
/// that went back.
std::uint64_t packed_heap::close_empty_extents() noexcept {
  std::uint64_t released = 0;
  for (open_slot& each : open_) {
    std::uint32_t index = each.index.load_acquire();
    if (index == kNone) continue;
    const extent_word seen = extents_.row(index).load();
    const bool is_dead = seen.live() == 0 && seen.cursor() > 0;
    if (!is_dead || !each.index.compare_exchange_acq_rel(index, kNone)) continue;
    if (!close(index)) continue;
    each.went_back.store_release(true);
    released += seen.cursor() * kUnitBytes;
  }
  return released;
}

std::uint64_t packed_heap::release_dead_pages() noexcept {
  std::uint64_t released = close_empty_extents();
  const std::size_t used = extents_.used();
  bool is_any = false;
  for (std::size_t i = 0; i < used; ++i) is_any |= choose_to_thin(i);
  if (!is_any) return released;
  // Holes link to each other. After the flush none is in an extent that was chosen, as sparse ones
  // get no more (deallocate()), nor can one be taken there; one that was taken before looks live
  // (hole_cache::take()).
  flush_holes();
  for (std::size_t i = 0; i < used; ++i) {
    if (extents_.row(i).thinned.load_relaxed() == thinning::chosen) released += thin(i);
  }
  return released;
}

}  // namespace isotherm::heap
