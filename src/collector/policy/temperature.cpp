#include "collector/policy/temperature.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace isotherm::collector {

namespace {

constexpr double kHighest = kRates - 1;
/// A load has changed when misses are so much above what was expected, above what chance does, and
/// above that by such a share of what is used.
constexpr double kUnexpected = 1.3, kDeviations = 4, kWorthNoting = 0.01;
/// Windows that a memory lasts at least: a new one has no expectation yet.
constexpr unsigned kLeastMemory = 4;
/// Weight of the last window in the misses that are expected of the next.
constexpr double kNewest = 0.25;
/// A window in which less than this share of the usual number of objects was used says nothing.
constexpr double kFewUses = 0.125;
constexpr double kHighestLoad = 64;
/// The share of the usual load a second from which on the objects in DRAM are used as before.
constexpr double kSteady = 0.67;
constexpr double kLeastSeconds = 1e-6;

double steps_of(double share) noexcept {
  return share > 0 ? kHighest + kRatesPerOctave * std::log2(share) : 0;
}

}  // namespace

double share_of(unsigned r) noexcept {
  return r == 0 ? 0 : std::exp2((r - kHighest) / kRatesPerOctave);
}

rate rate_of(double share) noexcept {
  return static_cast<rate>(std::clamp(steps_of(share) + 0.5, 0.0, kHighest));
}

unsigned cut_for(std::span<const std::uint64_t> amounts, std::uint64_t budget) noexcept {
  auto cut = static_cast<unsigned>(amounts.size());
  for (std::uint64_t kept = 0; cut > 0; --cut) {
    kept += amounts[cut - 1];
    if (kept > budget) break;
  }
  return cut;
}

double load_of(const objects_by_rate& objects, std::uint64_t used) noexcept {
  // An object used in each window may be used in it once or a thousand times: nearly always.
  constexpr double kNearlyAlways = 0.98;
  std::array<double, std::tuple_size_v<objects_by_rate>> unused{};  // logarithms
  for (unsigned group = 0; group < unused.size(); ++group) {
    const double share = share_of(group * kRatesPerGroup + kRatesPerGroup / 2);
    unused[group] = std::log1p(-std::min(share, kNearlyAlways));
  }
  const auto uses_at = [&](double load) {
    double sum = 0;
    for (unsigned group = 0; group < unused.size(); ++group) {
      sum -= static_cast<double>(objects[group]) * std::expm1(load * unused[group]);
    }
    return sum;
  };
  if (std::ranges::all_of(objects, [](std::uint64_t n) { return n == 0; })) return 1;
  double least = 0, most = kHighestLoad;
  while (most - least > 1e-3 * most) {
    const double middle = (least + most) / 2;
    (uses_at(middle) < static_cast<double>(used) ? least : most) = middle;
    if (most < 1e-6) break;
  }
  return most;
}

void use_memory::note(const window_uses& seen) noexcept {
  const auto all = static_cast<double>(seen.objects), misses = static_cast<double>(seen.misses);
  if (all < kFewUses * usual_uses_) return;
  const double expected = std::max(expected_misses_ * seen.load, seen.predicted_share * all);
  const double pace = seen.load / std::max(seen.seconds, kLeastSeconds);
  const bool are_unexpected =
      length_ >= kLeastMemory &&
      misses > kUnexpected * expected + kDeviations * std::sqrt(expected) + kWorthNoting * all;
  const bool is_steady = usual_pace_ > 0 && pace >= kSteady * usual_pace_;
  if (are_unexpected && !is_steady) {
    length_ = 0;
    ++restarts_;
    usual_uses_ = all;
    expected_misses_ = misses;
    usual_pace_ = 0;
    return;
  }
  if (are_unexpected) {
    length_ = std::min(length_, kShortMemory);
  } else {
    usual_pace_ += (usual_pace_ > 0 ? kNewest : 1) * (pace - usual_pace_);
  }
  const double at_one = misses / std::max(seen.load, kFewUses);
  expected_misses_ += (expected_misses_ > 0 ? kNewest : 1) * (at_one - expected_misses_);
  usual_uses_ += (usual_uses_ > 0 ? kNewest : 1) * (all - usual_uses_);
}

void use_memory::end_window() noexcept {
  length_ = std::min(length_ + 1, kLongestMemory);
  if (++windows_in_era_ == kEraWindows) {
    windows_in_era_ = 0;
    era_ = (era_ + 1) % kEras;
    faded_[era_] = 0;
  }
  rebuild();
  faded_[era_] += static_cast<float>(-double{kRatesPerOctave} * std::log2(1 - 1.0 / (length_ + 1)));
}

rate use_memory::looked_at(rate kept) const noexcept {
  // The middle of the step that was kept.
  const unsigned least = kept / kEras * kEras;
  const unsigned middle = least == 0 ? 0 : least + kEras / 2;
  double left = middle;
  for (unsigned at = kept % kEras; at != era_;) left -= faded_[at = (at + 1) % kEras];
  return static_cast<rate>(std::max(left, 0.0));
}

use_memory::step use_memory::rounded(double rate_steps) noexcept {
  const double within = std::clamp(rate_steps, 0.0, kHighest);
  const double least = std::floor(within);
  return {static_cast<rate>(least), static_cast<std::uint16_t>((within - least) * 0xffff)};
}

void use_memory::rebuild() noexcept {
  const double weight = 1.0 / (length_ + 1);
  for (unsigned r = 0; r < kRates; ++r) {
    const double share = share_of(static_cast<rate>(r));
    used_[r] = rounded(steps_of(share + (1 - share) * weight));
    idle_[r] = rounded(steps_of(share * (1 - weight)));
  }
}

}  // namespace isotherm::collector
