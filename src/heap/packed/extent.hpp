// An extent's state, in one 64-bit word, so that appending, freeing, closing and giving back are
// ordered by one variable's modification order.
//
//   bits  0-15  live     units of 16 bytes that live objects take
//   bits 16-31  cursor   units appended so far; live <= cursor <= kExtentUnits
//   bit     32  closed   takes no more objects until it is opened anew
//   bits 40-63  readers  reads of its pages that are under way, and its write to COLD's file
//
//   append   CAS   open, room:          cursor += gap + n, live += n
//   free     sub                        live -= n
//   close    CAS   open:                closed = 1
//   pin      add   in a scope that has found a live object there: readers += 1
//   unpin    sub                        readers -= 1
//   reopen   store closed, live == 0, readers == 0:   0
//
// An allocator holds room in an extent only by a successful append, which raises live in the same
// step; so `closed && live == 0 && readers == 0` means that nobody holds room, nobody can get any,
// and nobody reads there: a reader pins the extent while an object lives there. Exactly one
// operation makes that true, the last free, the close or the last reader's, and that one gives the
// extent back. Therefore no address in an extent comes to mean another object while a reader pins
// the extent. A stale allocator's CAS fails on `closed` in an extent that was given back. The CAS
// succeeds in an extent that was opened anew since, and the allocator has got room there.
//
// Every operation is acquire and release: what was done to objects happens before their free,
// all frees before the extent's reuse (a release sequence of RMWs ends in the one that empties it),
// and that before the next append.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/page.hpp"
#include "heap/header.hpp"
#include "heap/object.hpp"

namespace isotherm::heap {

inline constexpr std::size_t kExtentBytes = kTogetherBytes;
inline constexpr std::size_t kUnitBytes = 16;
/// Headers lie at 8 mod 16, so that payloads lie at 0: 8 bytes at either end stay unused.
inline constexpr std::size_t kExtentUnits = kExtentBytes / kUnitBytes - 1;
inline constexpr std::size_t kSmallBytesMax = kExtentUnits * kUnitBytes - kHeaderBytes;

constexpr std::size_t units_of(std::size_t bytes) noexcept {
  return (kHeaderBytes + readable_bytes(bytes) + kUnitBytes - 1) / kUnitBytes;
}
static_assert(units_of(0) == 1 && units_of(8) == 1 && units_of(9) == 2);
static_assert(units_of(kSmallBytesMax) == kExtentUnits);
/// Extents that an object beyond kSmallBytesMax takes.
constexpr std::size_t extents_of(std::size_t bytes) noexcept {
  return (2 * kHeaderBytes + readable_bytes(bytes) + kExtentBytes - 1) / kExtentBytes;
}
static_assert(extents_of(kSmallBytesMax + 8) == 1 && extents_of(kSmallBytesMax + 9) == 2);

/// Units to leave free at `cursor` so that an object of so many lies in one page, which is one read
/// where pages come from a file. Room costs less there than a read, but not any amount: none where
/// it would be more than a quarter of a page, nor for an object of more than a page.
constexpr std::size_t gap_before(std::size_t cursor, std::size_t units) noexcept {
  constexpr std::size_t kPageUnits = base::kPageBytes / kUnitBytes;
  const std::size_t in_page = cursor % kPageUnits;
  // The last unit of a page ends 8 bytes behind it: see kExtentUnits.
  if (units >= kPageUnits || in_page + units < kPageUnits) return 0;
  const std::size_t gap = kPageUnits - in_page;
  return gap <= kPageUnits / 4 ? gap : 0;
}
static_assert(gap_before(0, 70) == 0 && gap_before(140, 70) == 0 && gap_before(210, 70) == 46);
static_assert(gap_before(100, 200) == 0 && gap_before(250, 300) == 0 && gap_before(255, 1) == 1);

struct extent_word {
  std::uint64_t raw;

  constexpr std::size_t live() const noexcept { return raw & 0xffffU; }
  constexpr std::size_t cursor() const noexcept { return (raw >> 16U) & 0xffffU; }
  constexpr bool closed() const noexcept { return (raw & kClosed) != 0; }
  constexpr std::size_t readers() const noexcept { return raw >> kReaderShift; }
  constexpr bool empty_for_good() const noexcept {
    return closed() && live() == 0 && readers() == 0;
  }
  /// Returns whether one more unit may be counted as live, as if an object had been there all
  /// along. An extent that is being opened anew refuses it, and so does one whose units all live.
  constexpr bool may_be_pinned() const noexcept {
    return closed() && live() > 0 && live() < kExtentUnits && cursor() > 0;
  }
  constexpr bool has_room(std::size_t units) const noexcept {
    return !closed() && cursor() + units <= kExtentUnits;
  }
  constexpr extent_word appended(std::size_t gap, std::size_t units) const noexcept {
    return {raw + ((gap + units) << 16U) + units};
  }
  constexpr extent_word closed_now() const noexcept { return {raw | kClosed}; }

  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 32U;
  static constexpr unsigned kReaderShift = 40;
  static constexpr std::uint64_t kReader = std::uint64_t{1} << kReaderShift;
  static constexpr std::uint64_t kMostReaders = ~std::uint64_t{0} >> kReaderShift;
};
static_assert(kExtentUnits <= 0xffffU);
static_assert(extent_word{extent_word::kClosed | (7U << 16U) | 1U}.may_be_pinned());
static_assert(!extent_word{(7U << 16U) | 1U}.may_be_pinned());
static_assert(!extent_word{extent_word::kClosed | (7U << 16U)}.may_be_pinned());
static_assert(
    !extent_word{extent_word::kClosed | (kExtentUnits << 16U) | kExtentUnits}.may_be_pinned());

/// A row of the side table, which lies outside of the range so that bookkeeping touches no COLD
/// page. Rows start as zero pages.
struct alignas(base::kCacheLineBytes) extent {
  base::atomic<std::uint64_t> word;
  /// Head of a run (an object beyond kSmallBytesMax): its extents; else 0. Written before the
  /// object is handed out and by its free.
  base::atomic<std::uint32_t> run;
  /// Bytes of the object that heads a run, as they were asked for.
  base::atomic<std::uint32_t> run_bytes;
  /// Counts up from extent to extent as they are opened, and round at its end: which of two was
  /// opened first. Relaxed: it orders no access; a stale one costs an object a place in a queue.
  base::atomic<std::uint32_t> birth;
  /// Units within `cursor` that gap_before() left free. Added to after a successful append, whose
  /// object keeps the extent from being reopened, which clears it. Relaxed: it is for statistics.
  base::atomic<std::uint16_t> gap_units;
  /// Pages, of a mapped COLD, were asked to leave DRAM, and nothing is known to have touched one
  /// since. Set by the pager, cleared by reopening and by note_use(); a race between them costs a
  /// hint, or delays one until the row's turn to be looked at again, so relaxed.
  base::atomic<bool> hinted;
  /// The band of objects that an extent of HOT was opened for (heap/object.hpp). Relaxed: it is
  /// written before the release of `word` that opens the extent, and a thread that asks has got the
  /// object by way of that. An object that was freed meanwhile may get the answer of the extent's
  /// next opening, which costs a needless move.
  base::atomic<band> among;
  /// The bytes of an extent of a logged COLD, or of the run that it heads, are in the file, and its
  /// memory ends. Set once by cold_extents::note_written(), whose release pairs with the acquire of
  /// is_out(); cleared by reopening, when no thread has an address there.
  base::atomic<bool> written;
  /// The collector empties it: freed room there is not filled anew, by an object that the pass over
  /// guides may have gone by. Cleared when the extent goes back. Relaxed: an object that is put
  /// there at the same time, or into an extent that went back and was opened meanwhile, costs room
  /// only.
  base::atomic<bool> leaving;
  /// Pages in which no object lives were given back (packed_heap::release_dead_pages()); cleared by
  /// reopening. The bytes that freed objects left there, headers too, are gone.
  enum class thinning : std::uint8_t { none, chosen, done };
  base::atomic<thinning> thinned;

  extent_word load() const noexcept { return {word.load_acquire()}; }
  /// Returns the units that objects took when they were appended: those that live, and the dead.
  std::size_t filled(extent_word seen) const noexcept {
    return seen.cursor() - std::min<std::size_t>(seen.cursor(), gap_units.load_relaxed());
  }
  /// Begins anew: closed and empty.
  /// Requires: no other thread uses the extent.
  void reset() noexcept {
    hinted.store_relaxed(false);
    written.store_relaxed(false);
    thinned.store_relaxed(thinning::none);
    leaving.store_relaxed(false);
    among.store_relaxed(kColdestBand);
    run.store_relaxed(0);
    word.store_release(extent_word::kClosed);
  }
};

}  // namespace isotherm::heap
