// What a window's end means for one guide (OBASE 3.4): a pure policy.
#pragma once

#include <optional>

#include "guide/word.hpp"

namespace isotherm::collector {

/// Outcome for one guide word.
struct classification {
  guides::word next;                 ///< the word after the window, its object still in place
  std::optional<heap::kind> target;  ///< heap that the object should move to, if it should
  bool rests_in_cold = false;        ///< need not be scanned until it is dereferenced
};

/// Accessed: the bit is cleared, inactivity restarts, promote to HOT. Not accessed: one more
/// inactive window; at or above `threshold`, demote to COLD.
constexpr classification classify(guides::word w, unsigned threshold) noexcept {
  using heap::kind;
  const kind where = guides::heap_of(w);
  if (guides::is_accessed(w)) {
    const bool promote = where != kind::hot;
    return {guides::rested(w), promote ? std::optional(kind::hot) : std::nullopt, false};
  }
  const guides::word older = guides::aged(w);
  if (where == kind::cold) return {older, std::nullopt, true};
  const bool demote = guides::inactive_of(older) >= threshold;
  return {older, demote ? std::optional(kind::cold) : std::nullopt, false};
}

}  // namespace isotherm::collector
