// The keys between the parts of a split.
#pragma once

#include <cstdint>
#include <vector>

#include "sort/scan/record_in_memory.hpp"
#include "sort/split/sample.hpp"

namespace isotherm::sort {

/// Finds the part of each record: the number of boundaries that do not come behind it. Does not
/// change, so that all threads may use it.
class boundaries {
 public:
  /// Takes over the boundaries, which are in order.
  boundaries(const record_layout& layout, record_copies&& records)
      : layout_(layout), copies_(std::move(records)), records_(copies_.records()) {}
  /// Chooses boundaries of `parts` parts from `sample`, which is in order, so that all parts get
  /// about as many of its records. None from an empty sample: there is nothing to divide.
  boundaries(const record_layout& layout, record_copies&& sample, std::uint64_t parts);

  /// Returns the part of `r`, from 0. Records that are equal to two boundaries or more are shared
  /// out to the parts that begin with these, by their `place`, from 0 to 1, in all of the input.
  std::uint64_t part_of(const record_in_memory& r, double place) const noexcept;
  /// The number, from 1, of the first boundary that comes before its predecessor; 0: none does.
  std::uint64_t out_of_order() const noexcept;
  std::uint64_t size() const noexcept { return records_.size(); }

 private:
  const record_layout& layout_;
  record_copies copies_;
  std::vector<record_in_memory> records_;
};

}  // namespace isotherm::sort
