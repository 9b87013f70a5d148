// The use of an object of COLD.
//
// The object is used as it lies if it may be (may_use_in_place()). In a logged COLD it may not be
// if the user may store to it: COLD is written to the file as it is, and stores to it meanwhile
// would be lost. If it has left DRAM its bytes are read: a thread that waits reads them at once,
// and one that does not wait records the object, ends, and comes again:
//
//   recorded   in the scope that found the guide; from here on the extent is pinned
//   read       no scope is open; the guide may change, move or go
//   found      in another scope, by a thread that looks the guide up again. If it still holds the
//              object at that address, the copy is right: the bytes of objects in COLD do not
//              change, and while its extent is pinned the address means no other object
//   committed  if the object is to come back: a copy in HOT takes its place by a compare-and-swap,
//              as a writer's would, and the old one is retired. It fails when a writer or the
//              collector was faster.
//
// The slot is the one that this scope has found, so that it is there. It may be the old one of an
// object that has moved on to another slot; then its word says so (has_left()), and nothing is
// committed. Model: tests/model/fetch.pml.
#pragma once

#include <optional>

#include "base/atomic.hpp"
#include "guide/access.hpp"
#include "guide/guide.hpp"
#include "guide/word.hpp"

namespace isotherm::guides {

/// Says which objects that were read for a use come back to DRAM.
class return_policy {
 public:
  virtual ~return_policy() = default;
  /// The history of the object of `w`, of `bytes`, once it is in HOT; nullopt: it stays in COLD.
  /// `before`: whether it had been used in this window. Any thread; must not wait.
  virtual std::optional<unsigned> admit(word w, std::size_t bytes,
                                        heap::used_before before) noexcept = 0;
  /// An object of so many bytes has come back: one that was let in, or that a use needs in DRAM.
  /// Any thread; must not wait.
  virtual void note_returned(std::size_t bytes) noexcept = 0;
};
/// Asks `chosen` from now on; null, as at first: all come back, with the history that they have.
/// It must live as long as the process.
void set_return_policy(return_policy* chosen) noexcept;

/// Returns whether the object of a word, which lies in COLD, may be used as it lies.
bool may_use_in_place(word seen, const access& inside, stores may_follow) noexcept;
/// Uses it.
void* use_in_place(word seen) noexcept;

/// Dereferences a slot whose object was seen in COLD, and marked. Returns the object, a copy of it,
/// or null, and then `inside` has noted why. `before`: whether it had been used in the window
/// before this use marked it.
void* reach_in_cold(base::atomic<word>& slot, word seen, heap::used_before before, access& inside,
                    stores may_follow) noexcept;

}  // namespace isotherm::guides
