// The published policy (OBASE 3.4, 4.4): an object is cold after as many windows without use as the
// cold threshold says, and the threshold follows the promotion rate. For a working set that ends;
// of a load with a tail it keeps nearly everything.
#pragma once

#include "collector/policy/policy.hpp"

namespace isotherm::collector {

/// A word at its window's end. Used: inactivity starts anew. Not used: one more inactive window.
constexpr guides::word aged_by_windows(guides::word w) noexcept {
  return guides::is_accessed(w) ? guides::rested(w) : guides::aged(w);
}

/// Returns where the object of an aged word should go. Used in the window or since: to HOT. Not
/// used for `threshold` windows: to COLD.
constexpr std::optional<heap::kind> target_by_windows(guides::word w, unsigned threshold) noexcept {
  using heap::kind;
  const kind where = guides::heap_of(w);
  if (guides::is_accessed(w) || guides::inactive_of(w) == 0) {
    return where == kind::hot ? std::nullopt : std::optional(kind::hot);
  }
  const bool is_cold = guides::inactive_of(w) >= threshold;
  return where != kind::cold && is_cold ? std::optional(kind::cold) : std::nullopt;
}

std::unique_ptr<policy> make_published_policy();

}  // namespace isotherm::collector
