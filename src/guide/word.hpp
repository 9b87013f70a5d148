// The guide word (DESIGN: OBASE 4.1): one 64-bit word holds the object's address and all that
// the runtime knows of the object. All bit work of the project lives here.
//
//   bit  63      62        61 60   59 .. 55               54 .. 48              47 .. 4   3 .. 0
//        lock    accessed  heap    consecutive inactive   active thread count   address   size
//                                  windows (CIW)          (ATC)                           class
//
// Objects are aligned to 16 bytes, so that an address leaves four bits for the size: the collector
// weighs what an object takes without a look at the object, which may not be in DRAM.
//
// The protocol "veto" needs no counts. Bits 59 .. 48 are then one field, the history, which is the
// collector's policy's to fill; which of the two a word holds is the same for all (word_use).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "heap/kind.hpp"

namespace isotherm::guides {

using word = std::uint64_t;

inline constexpr unsigned kAddressBits = 48;
inline constexpr unsigned kCountShift = 48, kCountBits = 7;
inline constexpr unsigned kInactiveShift = 55, kInactiveBits = 5;
inline constexpr unsigned kHistoryShift = kCountShift, kHistoryBits = kCountBits + kInactiveBits;
inline constexpr unsigned kHeapShift = 60, kHeapBits = 2;

inline constexpr unsigned kSizeBits = 4;  // below the address

inline constexpr word kSizeMask = (word{1} << kSizeBits) - 1;
inline constexpr word kAddressMask = ((word{1} << kAddressBits) - 1) & ~kSizeMask;
inline constexpr word kCountOne = word{1} << kCountShift;
inline constexpr word kCountMask = ((word{1} << kCountBits) - 1) << kCountShift;
inline constexpr word kInactiveOne = word{1} << kInactiveShift;
inline constexpr word kInactiveMask = ((word{1} << kInactiveBits) - 1) << kInactiveShift;
inline constexpr word kHistoryMask = kCountMask | kInactiveMask;
inline constexpr word kHeapMask = ((word{1} << kHeapBits) - 1) << kHeapShift;
inline constexpr word kAccessed = word{1} << 62;
inline constexpr word kLocked = word{1} << 63;

/// A slot that held an object, holds none, and is still registered: null, yet not zero. No object
/// lives in NODE, so its value in the heap field says nothing else.
inline constexpr word kVacant = static_cast<word>(heap::kind::node) << kHeapShift;

inline constexpr unsigned kCountCeiling = (1u << kCountBits) - 1;
inline constexpr unsigned kInactiveCeiling = (1u << kInactiveBits) - 1;

static_assert((kSizeMask | kAddressMask | kCountMask | kInactiveMask | kHeapMask | kAccessed |
               kLocked) == ~word{0});
static_assert((kSizeMask ^ kAddressMask ^ kCountMask ^ kInactiveMask ^ kHeapMask ^ kAccessed ^
               kLocked) == ~word{0},
              "fields overlap");
static_assert(sizeof(void*) == sizeof(word), "guides need 64-bit pointers");
static_assert(heap::kKinds.size() == 1U << kHeapBits);

constexpr word address_of(word w) noexcept { return w & kAddressMask; }
inline void* pointer_of(word w) noexcept { return reinterpret_cast<void*>(w & kAddressMask); }
/// Class c holds objects of at most size_of_class(c) bytes, the last one all that are larger too.
constexpr unsigned size_class_of(word w) noexcept { return static_cast<unsigned>(w & kSizeMask); }
constexpr std::uint64_t size_of_class(unsigned c) noexcept { return std::uint64_t{16} << c; }
constexpr unsigned size_class_for(std::size_t bytes) noexcept {
  constexpr unsigned kLast = (1U << kSizeBits) - 1, kLeastBits = 4;
  const auto bits = static_cast<unsigned>(std::bit_width(std::max(bytes, std::size_t{1}) - 1));
  return std::clamp(bits, kLeastBits, kLeastBits + kLast) - kLeastBits;
}
constexpr unsigned count_of(word w) noexcept {
  return static_cast<unsigned>((w & kCountMask) >> kCountShift);
}
constexpr unsigned inactive_of(word w) noexcept {
  return static_cast<unsigned>((w & kInactiveMask) >> kInactiveShift);
}
constexpr unsigned history_of(word w) noexcept {
  return static_cast<unsigned>((w & kHistoryMask) >> kHistoryShift);
}
/// `history` is below 2^kHistoryBits.
constexpr word with_history(word w, unsigned history) noexcept {
  return (w & ~kHistoryMask) | (word{history} << kHistoryShift);
}
/// Returns the heap of a word that is not null: NEW, HOT or COLD; NODE if has_left().
constexpr heap::kind heap_of(word w) noexcept {
  return static_cast<heap::kind>((w & kHeapMask) >> kHeapShift);
}
constexpr bool is_accessed(word w) noexcept { return (w & kAccessed) != 0; }
constexpr bool is_locked(word w) noexcept { return (w & kLocked) != 0; }
constexpr bool is_null(word w) noexcept { return address_of(w) == 0; }
/// Whether the object has another slot now, and this one is there only for scopes that have found
/// it before (guide's constructor for relocation). No object lives in NODE, so its value in the
/// heap field can say so.
constexpr bool has_left(word w) noexcept { return !is_null(w) && heap_of(w) == heap::kind::node; }

/// The word of an object of `bytes` just placed: no count, no windows, not accessed, not locked.
constexpr word make_word(word address, heap::kind where, std::size_t bytes) noexcept {
  ISO_ASSERT(heap::holds_objects(where), "a guide holds no node");
  ISO_ASSERT((address & kSizeMask) == 0, "objects are aligned to 16 bytes");
  return (address & kAddressMask) | (static_cast<word>(where) << kHeapShift) |
         size_class_for(bytes);
}
inline word make_word(const void* object, heap::kind where, std::size_t bytes) noexcept {
  return make_word(reinterpret_cast<word>(object), where, bytes);
}

/// The fast path's one test: accessed is set and the lock is clear, so a dereference writes
/// nothing.
constexpr bool needs_no_mark(word w) noexcept { return (w & (kAccessed | kLocked)) == kAccessed; }

/// Returns whether needs_no_mark() holds, and the object is not in COLD, so that it is in DRAM.
constexpr bool reads_directly(word w) noexcept {
  constexpr word kColdOrNone = word{2} << kHeapShift;
  return (w & (kAccessed | kLocked | kColdOrNone)) == kAccessed;
}

/// Marked by a dereference: accessed, and any copy in flight vetoed.
constexpr word marked(word w) noexcept { return (w | kAccessed) & ~kLocked; }

/// Marked and counted. The count saturates and then stays (pins) for the epoch (pitfall 3); the
/// lock is cleared (pitfall 2).
constexpr word counted(word w) noexcept {
  const word m = marked(w);
  return count_of(m) == kCountCeiling ? m : m + kCountOne;
}
/// One count less; a saturated count is sticky, an absent one stays absent. The lock is left alone.
constexpr word uncounted(word w) noexcept {
  const unsigned n = count_of(w);
  return n == 0 || n == kCountCeiling ? w : w - kCountOne;
}
constexpr word without_counts(word w) noexcept { return w & ~kCountMask; }
/// Held where it is until the scan resets counts: a saturated count, which no scope takes back.
constexpr word pinned(word w) noexcept { return w | kCountMask; }
constexpr word locked(word w) noexcept { return w | kLocked; }
constexpr word unlocked(word w) noexcept { return w & ~kLocked; }

/// Window boundary, accessed: the bit is cleared, inactivity starts anew.
constexpr word rested(word w) noexcept { return w & ~(kAccessed | kInactiveMask); }
/// Window boundary, not accessed: one more inactive window, saturating at 31.
constexpr word aged(word w) noexcept {
  return inactive_of(w) == kInactiveCeiling ? w : w + kInactiveOne;
}
/// A new object in the slot of `old`: what counts `old` keeps pinning the slot, beside what counts
/// `next`; the rest starts anew.
constexpr word succeeded_by(word old, word next) noexcept {
  const unsigned n = count_of(old) + count_of(next);
  return without_counts(next) | (word{n < kCountCeiling ? n : kCountCeiling} << kCountShift);
}
/// A new object in the slot of `old` inherits the history of the one before; an emptied slot has
/// none.
constexpr word heir_of(word old, word next) noexcept {
  return is_null(next) ? next : with_history(next, history_of(old));
}
/// The object of `w` in another slot. The scopes that counted it go on using it and no longer know
/// its slot, so it is pinned there.
constexpr word carried(word w) noexcept { return unlocked(count_of(w) == 0 ? w : pinned(w)); }
/// For the old slot of an object that gets another one; an empty slot stays as it is.
constexpr word left(word w) noexcept {
  return is_null(w) ? w : w | (static_cast<word>(heap::kind::node) << kHeapShift);
}
/// The same object at a new place, not locked.
constexpr word moved_to(word w, word address, heap::kind where) noexcept {
  return make_word(address, where, size_of_class(size_class_of(w))) |
         (w & (kAccessed | kHistoryMask));
}

/// The meaning of bits 59 .. 48 in all guide words of the process.
enum class word_use : std::uint8_t {
  history,  ///< of the object's uses: no scope counts
  counts    ///< inactive windows and an active thread count (OBASE 4.1)
};

}  // namespace isotherm::guides
