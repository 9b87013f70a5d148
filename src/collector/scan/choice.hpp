// The second pass over the due guides: which objects should move, since what all uses say together
// decides what a single one counts.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/policy/policy.hpp"
#include "collector/protocol/protocol.hpp"
#include "collector/scan/candidates.hpp"
#include "guide/soda.hpp"
#include "heap/kind.hpp"

namespace isotherm::collector {

/// Cuts NEW and HOT into parts by address, of about as many bytes. Objects move part by part, so
/// that the extents of one part are empty, and given back, before the next part is copied.
class source_parts {
 public:
  /// Objects of NEW belong to parts, or wait there for the newborn_queue.
  enum class newborns : std::uint8_t { move, wait };

  explicit source_parts(std::uint64_t count, newborns of_new = newborns::move);
  std::uint64_t count() const noexcept { return count_; }
  /// Whether an object of `where` belongs to part `number`; COLD is in the last as a whole, when
  /// there is room for what comes back.
  bool contains(std::uint64_t number, heap::kind where, const void* object) const noexcept;
  /// Returns the end of part `number` of HOT; the last has none.
  std::uintptr_t end_of_hot(std::uint64_t number) const noexcept;

 private:
  std::uint64_t count_;
  newborns newborns_;
  heap::per_kind<std::vector<std::uintptr_t>> ends_;  // of all parts but the last, ascending
};

/// Bounds of a choice.
struct choice_limits {
  std::uint64_t promotable_bytes;       ///< of objects that come back from COLD
  rate demotable = kRates - 1;          ///< objects that are used more often stay out of COLD
  std::size_t list_bytes = kListBytes;  ///< of the list
};

/// Lists, from `so_far` on until the list is full, the objects in `part` that should move.
/// `candidates` holds this call's findings only. Returns how many objects were left out because
/// they are used more often than `demotable`.
std::uint64_t choose(policy& decides, const source_parts& parts, std::uint64_t part,
                     const choice_limits& limits, guides::progress& so_far,
                     std::vector<candidate>& candidates);

}  // namespace isotherm::collector
