// Candidates for a move as the passes over the guides list them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/policy/policy.hpp"
#include "collector/protocol/protocol.hpp"
#include "guide/guide.hpp"
#include "guide/soda.hpp"
#include "heap/object.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

/// The candidates' list pauses its pass before it grows beyond this, so that a first demotion of
/// everything needs no list of everything.
inline constexpr std::size_t kListBytes = std::size_t{1} << 20;

/// The cost of a move beside the copy, in bytes that could be copied meanwhile.
inline constexpr std::uint64_t kMoveCostBytes = 1024;

/// True when the candidates of another granule may not fit in `bytes`; of an empty list never.
inline bool is_full(const std::vector<candidate>& candidates, std::size_t bytes) noexcept {
  return !candidates.empty() &&
         (candidates.size() + guides::kGranuleSlots) * sizeof(candidate) > bytes;
}

inline candidate candidate_of(guides::slot_word& slot, heap::place target,
                              const void* object) noexcept {
  const bool is_in_cold = heap::range_of(heap::kind::cold).contains(object);
  return {&slot, target, is_in_cold, static_cast<std::uint32_t>(heap::room_of(object))};
}

/// To HOT, or within it, the object of `w`.
inline candidate to_hot(guides::slot_word& slot, const policy& decides, guides::word w) noexcept {
  const void* const object = guides::pointer_of(w);
  std::optional<heap::band> now;
  if (guides::heap_of(w) == heap::kind::hot) now = heap::band_of(object);
  return candidate_of(slot, {heap::kind::hot, decides.band(w, now)}, object);
}

/// A COLD object that was not used needs no scan until it is dereferenced. A later scan clears a
/// count that stayed behind, or the lock of a relocated guide, which would pin until the next use.
inline guides::verdict verdict_of(guides::word w) noexcept {
  const bool rests = guides::heap_of(w) == heap::kind::cold && !guides::is_accessed(w) &&
                     !guides::is_counted(w) && !guides::is_locked(w);
  return rests ? guides::verdict::drop_due : guides::verdict::keep_due;
}

}  // namespace isotherm::collector
