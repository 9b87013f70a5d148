#include "lab/workload/lru.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace isotherm::workload {

std::optional<std::uint64_t> use_order::use(std::uint64_t record) {
  if (next_slot_ + 1 >= tree_.size()) make_room();
  const auto [at, is_first] = slot_of_.try_emplace(record, next_slot_);
  std::optional<std::uint64_t> distance;
  if (!is_first) {
    distance = slot_of_.size() - count_to(at->second);
    change(at->second, ~std::uint32_t{0});  // one less
    at->second = next_slot_;
  }
  change(next_slot_++, 1);
  return distance;
}

std::uint64_t use_order::count_to(std::size_t slot) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = slot + 1; i > 0; i &= i - 1) sum += tree_[i];
  return sum;
}

void use_order::change(std::size_t slot, std::uint32_t by) noexcept {
  for (std::size_t i = slot + 1; i < tree_.size(); i += i & -i) tree_[i] += by;
}

void use_order::make_room() {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
  order.reserve(slot_of_.size());
  for (const auto& [record, slot] : slot_of_) order.emplace_back(slot, record);
  std::ranges::sort(order);
  next_slot_ = 0;
  for (const auto& [slot, record] : order) slot_of_[record] = next_slot_++;
  tree_.assign(std::max<std::size_t>(1024, 2 * order.size()) + 1, 0);
  for (std::size_t i = 1; i < tree_.size(); ++i) {
    if (i <= next_slot_) ++tree_[i];
    if (const std::size_t above = i + (i & -i); above < tree_.size()) tree_[above] += tree_[i];
  }
}

void miss_curve::count(std::uint64_t distance) {
  if (distance >= by_distance_.size()) {
    by_distance_.resize(std::bit_ceil(distance + 1));
  }
  ++by_distance_[distance];
}

void miss_curve::add(const miss_curve& other) {
  requests_ += other.requests_;
  if (other.by_distance_.size() > by_distance_.size()) {
    by_distance_.resize(other.by_distance_.size());
  }
  for (std::size_t i = 0; i < other.by_distance_.size(); ++i) {
    by_distance_[i] += other.by_distance_[i];
  }
}

double miss_curve::misses(std::uint64_t room) const noexcept {
  std::uint64_t missed = 0;
  auto i = static_cast<std::size_t>(static_cast<double>(room) / one_in_);
  for (; i < by_distance_.size(); ++i) missed += by_distance_[i];
  if (requests_ == 0) return 0;
  const double all = static_cast<double>(missed) * one_in_;
  return std::min(1.0, all / static_cast<double>(requests_));
}

}  // namespace isotherm::workload
