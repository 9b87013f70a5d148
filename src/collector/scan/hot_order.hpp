// Which extents of HOT hold objects of other bands than their own (policy/order.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/policy/policy.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

/// How much of each extent of HOT lies in the wrong band when a window ends. For one thread.
class hot_order {
 public:
  /// Before a pass over all guides of objects in HOT.
  void begin() {
    extents_.assign(heap::used_extents(heap::kind::hot), {});
    guides_ = 0;
  }
  /// Notes an object of HOT by its aged word; does not touch the object.
  void note(const policy& decides, guides::word w) noexcept;
  /// Those extents that are not in order, as many as a window of so many seconds has time for:
  /// first those from which most comes to its place for what it costs. In groups of which one list
  /// of find_in_order() holds all objects. Time that is left is for the next window, as far as one
  /// extent may need it.
  std::vector<heap::sparse_extents> worst(double seconds);

 private:
  struct sum {
    std::uint64_t misplaced = 0, bytes = 0;  ///< of size classes, `bytes` of all
    std::uint64_t cost = 0;                  ///< of moving all (kMoveCostBytes)
  };
  struct costly_extent {
    double gain;
    std::uint64_t cost;
    std::size_t number;
  };
  std::vector<costly_extent> out_of_order() const;

  std::vector<sum> extents_;
  std::uint64_t guides_ = 0;  // of HOT
  std::uint64_t time_ = 0;    // that is left, as the bytes that could be copied in it
};

}  // namespace isotherm::collector
