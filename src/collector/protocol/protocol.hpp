// The seam between what is moved and how a move is made safe.
//
//   veto     the accessed bit and a grace period: no counts, no lock
//   counts   the papers' protocol (OBASE 4.5): PREPARE/ACTIVE epochs, counts, migration lock
//
// Both share the shape of Algorithm 1 (Dissertation 5.2.5): copy, then commit by a
// compare-and-swap on the exact word; any use of the object in between changes the word.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "guide/soda.hpp"
#include "heap/object.hpp"
#include "sync/epoch.hpp"

namespace isotherm::collector {

/// One intended move.
struct candidate {
  guides::slot_word* slot;
  heap::place target;
  bool is_in_cold = false;  ///< its object lay in COLD when it was listed
  std::uint32_t bytes = 0;  ///< size of its object when it was listed: what it adds to its batch
};
static_assert(sizeof(candidate) == 16);

/// Appends to a list of candidates; false when no memory is left to list it: it waits for the next
/// window.
inline bool list(std::vector<candidate>& candidates, candidate one) noexcept try {
  candidates.push_back(one);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

enum class move_result : std::uint8_t {
  moved,
  vetoed,      ///< a thread used the object; it stays where it is
  unreadable,  ///< its bytes could not be read; it stays where it is
  full,        ///< no room in the target heap; it stays where it is
  held_back,   ///< COLD's device may not be written to now; it stays where it is
  moot         ///< nothing to move any more: released, or already where it should be
};

/// How moves are made safe beside running application threads. Used by one collector thread.
class migration_protocol {
 public:
  virtual ~migration_protocol() = default;
  virtual std::string_view name() const noexcept = 0;
  /// The bits that it needs guide words to hold. begin() makes them hold these before any scope
  /// counts; the collector finds out when no scope counts any more (choose_ways()).
  virtual guides::word_use use_of_words() const noexcept = 0;

  /// Prepares for moving `batch`. Called outside of every scope. False when open scopes outlasted
  /// `limit`: nothing may be moved, and end() must not be called.
  virtual bool begin(std::span<const candidate> batch, sync::patience limit) = 0;

  /// Moves the object in `slot`, whose word is `seen` and whose bytes are at `from`, to `target`;
  /// `bytes` gets its size if it moved. Called under the slot's hazard, inside a scope.
  virtual move_result move(guides::slot_word& slot, guides::word seen, const void* from,
                           heap::place target, std::size_t& bytes) = 0;

  virtual void end() = 0;
};

/// "veto", "counts"; the first is the default.
const std::vector<std::string_view>& protocol_names();
base::result<std::unique_ptr<migration_protocol>> make_protocol(std::string_view name);

/// Bytes of an object that are copied before the collector looks whether the copy is still wanted:
/// some microseconds, for which a thread that destroys the object's guide may have to wait.
inline constexpr std::size_t kCopiedPieceBytes = std::size_t{64} << 10;

/// Copies the object of `expected`, whose bytes are at `from`, to `target` and commits by changing
/// `expected`, the word that the slot must still hold, to the moved one. The old memory is freed
/// only after the commit, the new one if it fails (pitfall 8).
move_result copy_and_commit(guides::slot_word& slot, guides::word expected, const void* from,
                            heap::place target, std::size_t& bytes);

}  // namespace isotherm::collector
