#include "lab/workload/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace isotherm::workload {

histogram::histogram() : counts_(bucket_of(kLargest) + 1) {}

void histogram::merge(const histogram& other) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  largest_ = std::max(largest_, other.largest_);
}

void histogram::clear() noexcept {
  std::ranges::fill(counts_, 0);
  count_ = sum_ = largest_ = 0;
}

void histogram::subtract(const histogram& earlier) noexcept {
  count_ = 0;
  std::uint64_t largest = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    counts_[bucket] -= earlier.counts_[bucket];
    count_ += counts_[bucket];
    if (counts_[bucket] > 0) largest = upper_of(bucket);
  }
  sum_ -= earlier.sum_;
  largest_ = std::min(largest_, largest);
}

std::uint64_t histogram::quantile(double share) const noexcept {
  if (count_ == 0) return 0;
  const double exact = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_));
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(upper_of(i), largest_);
  }
  return largest_;
}

live_histogram::live_histogram() : counts_(histogram::bucket_of(histogram::kLargest) + 1) {}

histogram live_histogram::read() const {
  histogram seen;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen.counts_[bucket] = counts_[bucket].load_relaxed();
    seen.count_ += seen.counts_[bucket];
  }
  seen.sum_ = sum_.load_relaxed();
  seen.largest_ = largest_.load_relaxed();
  return seen;
}

}  // namespace isotherm::workload
