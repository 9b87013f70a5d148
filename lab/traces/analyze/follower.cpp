#include "lab/traces/analyze/follower.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

#include "base/random.hpp"

namespace isotherm::traces {
namespace {

std::uint64_t hash_of(std::string_view key) noexcept {
  return base::mix64(std::hash<std::string_view>{}(key));
}

constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void follower::add(const request& next) {
  const std::uint64_t place = requests_++;
  ++by_kind_[static_cast<std::size_t>(next.kind)];
  first_us_ = std::min(first_us_, next.time_us);
  last_us_ = std::max(last_us_, next.time_us);
  if (next.value_size > 0) {
    ++sized_requests_;
    value_bytes_ += next.value_size;
  }
  const std::uint64_t hash = hash_of(next.key);
  if ((hash & left_out_) != 0) return;
  const auto [at, is_new] = index_of_.try_emplace(hash, static_cast<std::uint32_t>(keys_.size()));
  if (is_new) {
    const auto bytes = static_cast<std::uint32_t>(next.key.size());
    keys_.push_back({.hash = hash, .key_size = next.key_size > 0 ? next.key_size : bytes});
  }
  if (next.value_size > 0) keys_[at->second].value_size = next.value_size;
  uses_.push_back({.key = at->second, .place = place});
  while (keys_.size() > std::min(limits_.keys, follow_limits::kMostKeys) ||
         uses_.size() > limits_.uses) {
    halve();
  }
}

void follower::halve() {
  left_out_ = 2 * left_out_ + 1;
  std::vector<std::uint32_t> moved_to(keys_.size(), kGone);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if ((keys_[i].hash & left_out_) != 0) continue;
    keys_[kept] = keys_[i];
    moved_to[i] = kept++;
  }
  keys_.resize(kept);
  index_of_.clear();
  for (std::uint32_t i = 0; i < kept; ++i) index_of_.emplace(keys_[i].hash, i);
  std::erase_if(uses_, [&](const use& each) { return moved_to[each.key] == kGone; });
  for (use& each : uses_) each.key = moved_to[each.key];
}

}  // namespace isotherm::traces
