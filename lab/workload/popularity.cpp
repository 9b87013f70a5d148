#include "lab/workload/popularity.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace isotherm::workload {
namespace {

/// Most ranks that are added up one by one, and how many for each key where that is less: what the
/// others add differs by 2% from key to key, or less.
constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 24;
constexpr std::uint64_t kRanksPerKey = 64;

/// The two parts of the keys are uniform each; the one whose keys are drawn more often comes first.
double share_of_hotspot(const key_choice& choice, std::uint64_t keys, std::uint64_t records) {
  const auto all = static_cast<double>(keys);
  const auto kept = static_cast<double>(records);
  const auto hot = static_cast<double>(hot_keys_of(choice, keys));
  if (hot == all) return kept / all;
  const double often = choice.hotspot_accesses / hot;
  const double rarely = (1 - choice.hotspot_accesses) / (all - hot);
  const double first = often >= rarely ? hot : all - hot;
  return std::max(often, rarely) * std::min(kept, first) +
         std::min(often, rarely) * std::max(kept - first, 0.0);
}

double share_of_exponential(const key_choice& choice, std::uint64_t keys, std::uint64_t records) {
  const double rate = exponential_rate_of(choice, keys);
  return std::expm1(-rate * static_cast<double>(records)) /
         std::expm1(-rate * static_cast<double>(keys));
}

}  // namespace

popularity::popularity(const key_choice& choice, std::uint64_t keys)
    : choice_(choice), keys_(keys), zeta_(zeta(keys, choice.theta)) {
  if (choice.which == distribution::zipfian) add_up_scrambled();
}

void popularity::add_up_scrambled() {
  const std::uint64_t one_by_one = std::min(kMostRanks, kRanksPerKey * keys_);
  const double all = zeta(kScrambledRanks, choice_.theta);
  const double beyond = 1 - zeta(one_by_one, choice_.theta) / all;
  up_to_.assign(keys_, beyond / static_cast<double>(keys_));
  for (std::uint64_t rank = 0; rank < one_by_one; ++rank) {
    up_to_[fnv1a(rank) % keys_] += std::pow(static_cast<double>(rank + 1), -choice_.theta) / all;
  }
  std::ranges::sort(up_to_, std::greater());
  std::partial_sum(up_to_.begin(), up_to_.end(), up_to_.begin());
}

double popularity::share_of_top(std::uint64_t records) const noexcept {
  if (records == 0) return 0;
  if (records >= keys_) return 1;
  switch (choice_.which) {
    case distribution::zipfian:
      return up_to_[records - 1];
    case distribution::permuted:
    case distribution::latest:
      return zeta(records, choice_.theta) / zeta_;
    case distribution::exponential:
      return share_of_exponential(choice_, keys_, records);
    case distribution::uniform:
    case distribution::sequential:
      return static_cast<double>(records) / static_cast<double>(keys_);
    case distribution::hotspot:
      break;
  }
  return share_of_hotspot(choice_, keys_, records);
}

double popularity::chance_of(std::uint64_t rank) const noexcept {
  switch (choice_.which) {
    case distribution::permuted:
    case distribution::latest:
      return std::pow(static_cast<double>(rank + 1), -choice_.theta) / zeta_;
    case distribution::uniform:
    case distribution::sequential:
      return 1 / static_cast<double>(keys_);
    case distribution::zipfian:
    case distribution::exponential:
    case distribution::hotspot:
      break;
  }
  return std::max(share_of_top(rank + 1) - share_of_top(rank), 0.0);
}

}  // namespace isotherm::workload
