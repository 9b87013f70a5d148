// For tests, in our own builds with a sanitizer only (ISOTHERM_TEST_HOOKS; a program that is built
// with one against the installed library has no such hook): the moments between two steps of a
// protocol at which another thread, or the collector, would do the most harm. A test acts there
// itself, so that what a missing care would do happens in every run.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace isotherm::sync {

enum class step : std::uint8_t {
  entering,      ///< a scope has read the global word and not yet published it; where: its slot
  marking,       ///< a dereference has read the word and not yet marked it; where: the guide's slot
  visiting,      ///< the collector is about to publish its hazard; where: the slot or granule
  awaits_visit,  ///< a guide's slot is in the collector's hands and its owner waits; where: the
                 ///< slot
  copied_piece,  ///< a piece of an object was copied; where: the guide's slot
  fetched,       ///< a copy in HOT of an object that was read is about to take the object's place;
                 ///< where: the guide's slot
  between_nodes,  ///< an index's cursor knows the next node and has not read it; where: that node
  walked_to,      ///< a walk for placement has read a node and not yet checked that it is the same;
                  ///< where: that node
  copied_node     ///< a child of a node that is relocated leads to the copy; where: the child
};

#if defined(ISOTHERM_TEST_HOOKS)
using step_hook = void (*)(step at, const void* where) noexcept;

/// Null: none. Called on the thread that takes the step.
extern base::atomic<step_hook> between_steps;

inline void pause_at(step at, const void* where) noexcept {
  // Acquire: pairs with the test's release of what its hook reads.
  if (const step_hook hook = between_steps.load_acquire()) hook(at, where);
}
#else
inline void pause_at(step, const void*) noexcept {}
#endif

}  // namespace isotherm::sync
