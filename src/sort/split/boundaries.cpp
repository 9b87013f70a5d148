#include "sort/split/boundaries.hpp"

#include <algorithm>

namespace isotherm::sort {

boundaries::boundaries(const record_layout& layout, record_copies&& sample, std::uint64_t parts)
    : layout_(layout), copies_(std::move(sample)) {
  const std::vector<record_in_memory>& all = copies_.records();
  for (std::uint64_t part = 1; part < parts && !all.empty(); ++part) {
    records_.push_back(all[all.size() * part / parts]);
  }
}

std::uint64_t boundaries::part_of(const record_in_memory& r, double place) const noexcept {
  const auto behind = std::ranges::partition_point(
      records_, [&](const record_in_memory& b) { return compare_records(layout_, b, r) <= 0; });
  const auto part = static_cast<std::uint64_t>(behind - records_.begin());
  if (part < 2 || compare_records(layout_, records_[part - 2], r) != 0) return part;
  const auto first = std::partition_point(records_.begin(), behind, [&](const record_in_memory& b) {
    return compare_records(layout_, b, r) < 0;
  });
  const auto equal = static_cast<std::uint64_t>(behind - first);
  const auto share = static_cast<std::uint64_t>(place * static_cast<double>(equal));
  return part - equal + 1 + std::min(share, equal - 1);
}

std::uint64_t boundaries::out_of_order() const noexcept {
  for (std::uint64_t i = 1; i < records_.size(); ++i) {
    if (compare_records(layout_, records_[i - 1], records_[i]) > 0) return i + 1;
  }
  return 0;
}

}  // namespace isotherm::sort
