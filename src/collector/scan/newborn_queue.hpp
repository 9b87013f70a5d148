// NEW as a queue in the order of birth, from which objects leave when memory is asked for: those
// that were used since they were made go to HOT, as a rule, and the others to COLD (the small queue
// of S3-FIFO: Yang, Zhang, Qiu, Yue, Vinayak, SOSP 2023).
#pragma once

#include <cstdint>
#include <vector>

#include "collector/policy/policy.hpp"
#include "collector/protocol/protocol.hpp"
#include "guide/soda.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

/// One thread, under the protocol "veto".
///
/// An object that is made while others move is marked as used (kept_for_maker() in guide.cpp). The
/// accessed bits of an extent's objects are therefore cleared once, in the round that first finds
/// the extent closed, and the bits say in later rounds whether an object was used. A scope that has
/// used the object of a cleared bit is waited for before the object moves.
class newborn_queue {
 public:
  /// Begins a round, a pass over the guides: chooses the oldest extents, as many as hold `bytes`,
  /// of those whose bits an earlier round has cleared. Requires: the last round is over.
  void begin(std::uint64_t bytes);
  /// Returns whether the round has passed all guides, or none was begun.
  bool is_over() const noexcept { return so_far_.is_over; }
  /// Lists objects of the chosen extents that the round has not passed yet, until the list is full
  /// or the time `end_ns` has come; clears the bits of those that are next.
  void list_leaving(policy& decides, std::uint64_t end_ns, std::vector<candidate>& candidates);
  /// Returns whether the next round finds extents to choose.
  bool has_next() const noexcept { return has_next_; }
  /// A window ends: extents that were chosen and have kept objects may be chosen again.
  void end_window() noexcept { chosen_.clear(); }

 private:
  heap::sparse_extents leaving_{heap::kind::newborn, 0}, clearing_{heap::kind::newborn, 0};
  guides::progress so_far_{.is_over = true};
  std::uint32_t end_ = 0;  // births of the round's extents lie before it
  bool has_next_ = false;
  // Births, ascending, of the extents that are left of those whose bits have been cleared, and of
  // those that were chosen since a window ended.
  std::vector<std::uint32_t> cleared_, chosen_;
};

}  // namespace isotherm::collector
