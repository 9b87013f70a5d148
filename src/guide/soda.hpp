// SODA, the sparse object data activity bitmap (OBASE 4.3): which addresses hold guide slots.
//
// Two bits a slot:
//   registered   a live guide is there                       set and cleared by the application
//   due          the collector's next scan must look at it   cleared when its object goes to COLD
//   due => registered
// so that the cost of a window follows the warm set: a COLD object is not scanned until a
// dereference reports it (report_cold_access in registry.hpp).
//
// Two levels: a directory over the address space, and blocks of 2 MiB of addresses, made when a
// guide first appears in them and given back when none is left. SODA knows slots, never objects, so
// it stays valid when objects move.
//
// Collector and destruction of guides (pitfall 5). The collector scans granule by granule (one
// bitmap word, 64 slots) and moves slot by slot; before it looks at either it publishes it as its
// hazard, and only then reads the bits. A thread that destroys a guide clears the bits and then
// waits while the hazard names the slot or its granule. Both sides are sequentially consistent
// (store hazard, load bits; clear bits, load hazard), so one of them sees the other: either the
// collector finds the bit clear and leaves the slot alone, or the destroyer waits. For a granule
// that is as long as it takes to read the sizes of its used objects, from memory as a rule; for a
// slot, to copy a piece of its object (kCopiedPieceBytes), as the destroyer changes the word and
// the copy is then given up, and to make and free the room for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "guide/word.hpp"

namespace isotherm::guides {

using slot_word = base::atomic<word>;

/// Tells the scan what to do with a slot that it has visited.
enum class verdict : std::uint8_t {
  keep_due,  ///< look again in the next window
  drop_due   ///< the object is COLD and at rest
};

/// Sees slots one by one. Called under the hazard, inside a scope: must not wait, and must not open
/// migration epochs.
class slot_visitor {
 public:
  virtual ~slot_visitor() = default;
  virtual verdict visit(slot_word& slot) = 0;
  /// Before the visits of a granule, the word of each slot in it: for a visitor that reads objects,
  /// to have them fetched while it is busy with others. The word may have changed when its slot is
  /// visited.
  virtual void expect(word) const noexcept {}
  /// True when it can't bear another kGranuleSlots slots before its caller has had a turn.
  virtual bool wants_pause() const noexcept { return false; }
};
inline constexpr std::size_t kGranuleSlots = 64;

/// How far a visit of all slots has come, from the lowest address to the highest.
struct progress {
  std::uintptr_t next = 0;  ///< slots below have been visited
  bool is_over = false;
};

/// One collector at a time may call the functions below.

/// Visits every due slot from `so_far` on, until none is left or the visitor wants a pause; returns
/// how many, and sets `so_far` for the next call. Slots that are registered meanwhile may be
/// missed.
std::size_t visit_due(slot_visitor& visitor, progress& so_far);
/// Visits every registered slot so, due or not; verdicts are ignored.
std::size_t visit_registered(slot_visitor& visitor, progress& so_far);
/// Visit all of them, for a visitor that wants no pause.
std::size_t visit_due(slot_visitor& visitor);
std::size_t visit_registered(slot_visitor& visitor);

/// Visits `slot` if a guide is still there; false when it is gone. After `drop_due` a dereference
/// that came in between puts the slot back.
bool visit_one(slot_word* slot, slot_visitor& visitor);

/// Gives back blocks without guides; returns how many.
std::size_t free_empty_blocks();

/// Memory of the bitmap, in bytes.
std::size_t soda_bytes() noexcept;
/// Registered slots; approximate while guides come and go.
std::size_t registered_slots() noexcept;

}  // namespace isotherm::guides
