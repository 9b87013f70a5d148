#include "lab/workload/meter.hpp"

namespace isotherm::workload {

void tally::add(const tally& other) noexcept {
  for (std::size_t i = 0; i < kOperations; ++i) by_kind[i] += other.by_kind[i];
  missing += other.missing;
  corrupt += other.corrupt;
  waited += other.waited;
  misses += other.misses;
  latency_ns.merge(other.latency_ns);
}

void tally::subtract(const tally& earlier) noexcept {
  for (std::size_t i = 0; i < kOperations; ++i) by_kind[i] -= earlier.by_kind[i];
  missing -= earlier.missing;
  corrupt -= earlier.corrupt;
  waited -= earlier.waited;
  misses -= earlier.misses;
  latency_ns.subtract(earlier.latency_ns);
}

tally meter::read() const {
  tally seen;
  for (std::size_t i = 0; i < kOperations; ++i) seen.by_kind[i] = by_kind_[i].load_relaxed();
  seen.missing = missing_.load_relaxed();
  seen.corrupt = corrupt_.load_relaxed();
  seen.waited = waited_.load_relaxed();
  seen.misses = misses_.load_relaxed();
  seen.latency_ns = latency_ns_.read();
  return seen;
}

tally meters::read() const {
  tally all;
  for (const meter& one : each_) all.add(one.read());
  return all;
}

std::vector<std::uint64_t> meters::done() const {
  std::vector<std::uint64_t> each;
  each.reserve(each_.size());
  for (const meter& one : each_) each.push_back(one.operations());
  return each;
}

std::uint64_t meters::operations() const noexcept {
  std::uint64_t sum = 0;
  for (const meter& one : each_) sum += one.operations();
  return sum;
}

}  // namespace isotherm::workload
