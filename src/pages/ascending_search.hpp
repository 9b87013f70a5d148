// Ranges of addresses, looked up in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isotherm::pages {

/// The range of an ascending list that holds an address; asked in ascending order.
template <class Range>
class ascending_search {
 public:
  explicit ascending_search(const std::vector<Range>& ranges) : ranges_(ranges) {}
  /// Returns the position, or the list's size.
  std::size_t find(std::uint64_t address) {
    while (at_ < ranges_.size() && ranges_[at_].end <= address) ++at_;
    return at_ < ranges_.size() && ranges_[at_].begin <= address ? at_ : ranges_.size();
  }

 private:
  const std::vector<Range>& ranges_;
  std::size_t at_ = 0;
};

}  // namespace isotherm::pages
