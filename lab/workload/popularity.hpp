// How large a share of the requests the most popular records take: what a fixed choice of records
// to keep in DRAM can save at best. It is computed from the distribution that the keys are drawn
// from, not counted, so it owes nothing to the luck of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/workload/generators.hpp"

namespace isotherm::workload {

/// Immutable. For `zipfian` it holds eight bytes a key and takes up to a second to make: the ranks
/// that fall on each key are added up, up to 2^24 one by one, the rarer ones as if they fell on all
/// keys evenly. For the other distributions it has closed formulas.
class popularity {
 public:
  popularity(const key_choice& choice, std::uint64_t keys);

  /// Share of the draws that go to the `records` most popular records, 0..1. For `latest`: to the
  /// `records` youngest at each time, whichever they are then.
  double share_of_top(std::uint64_t records) const noexcept;
  /// Share of the draws that go to the record of `rank` (0: the most popular; below the number of
  /// keys), 0..1: never more than that of the rank before.
  double chance_of(std::uint64_t rank) const noexcept;

 private:
  void add_up_scrambled();

  key_choice choice_;
  std::uint64_t keys_;
  double zeta_;                ///< of permuted and latest, over the keys
  std::vector<double> up_to_;  ///< of zipfian: share of the i + 1 most popular keys
};

}  // namespace isotherm::workload
