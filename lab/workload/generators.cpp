#include "lab/workload/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace isotherm::workload {

namespace {

/// x^-theta: the height of an item's bar.
double height(double x, double theta) noexcept { return std::pow(x, -theta); }

/// Integral of height() from 1 to x. expm1() and log1p(), so that a theta near 1 loses no digits.
double integral(double x, double theta) noexcept {
  const double power = 1 - theta;
  if (power == 0) return std::log(x);
  return std::expm1(power * std::log(x)) / power;
}

/// Returns the x at which integral() is `area`.
double inverse_integral(double area, double theta) noexcept {
  const double power = 1 - theta;
  if (power == 0) return std::exp(area);
  return std::exp(std::log1p(std::max(area * power, -1.0)) / power);
}

}  // namespace

double zeta(std::uint64_t items, double theta) noexcept {
  const std::uint64_t exact = std::min<std::uint64_t>(items, 1000);
  double sum = 0;
  for (std::uint64_t i = exact; i > 0; --i) sum += height(static_cast<double>(i), theta);
  if (exact == items) return sum;
  // Euler-Maclaurin for the terms exact + 1 .. items: the integral, half of the ends' difference,
  // and a twelfth of the difference of the derivatives.
  const double a = static_cast<double>(exact);
  const double b = static_cast<double>(items);
  const double ends = (height(b, theta) - height(a, theta)) / 2;
  const double slopes = -theta * (height(b, theta + 1) - height(a, theta + 1)) / 12;
  return sum + integral(b, theta) - integral(a, theta) + ends + slopes;
}

zipfian::zipfian(std::uint64_t items, double theta) noexcept
    : items_(items),
      theta_(theta),
      first_(integral(1.5, theta) - 1),
      last_(integral(static_cast<double>(items) + 0.5, theta)),
      accept_(2 - inverse_integral(integral(2.5, theta) - height(2, theta), theta)) {}

std::uint64_t zipfian::operator()(base::random& random) const noexcept {
  for (;;) {
    // A uniform area under the curve leads to a point, and the point to the item whose bar is
    // around it. The curve is above the bars: areas outside them are drawn again.
    const double area = last_ + random.unit() * (first_ - last_);
    const double point = inverse_integral(area, theta_);
    const double item = std::clamp(std::floor(point + 0.5), 1.0, static_cast<double>(items_));
    if (item - point <= accept_ || area >= integral(item + 0.5, theta_) - height(item, theta_)) {
      return static_cast<std::uint64_t>(item) - 1;
    }
  }
}

std::uint64_t hot_keys_of(const key_choice& choice, std::uint64_t keys) noexcept {
  const double share = choice.hotspot_keys * static_cast<double>(keys);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(share), 1, keys);
}

double exponential_rate_of(const key_choice& choice, std::uint64_t keys) noexcept {
  return -std::log1p(-choice.exponential_accesses) /
         (choice.exponential_keys * static_cast<double>(keys));
}

namespace {

constexpr std::array kDistributions{"zipfian",     "permuted",   "uniform", "latest",
                                    "exponential", "sequential", "hotspot"};

}  // namespace

base::result<distribution> parse_distribution(const std::string& text) {
  const auto* const at = std::ranges::find(kDistributions, text);
  if (at != kDistributions.end()) return static_cast<distribution>(at - kDistributions.begin());
  return std::unexpected(base::error{fmt::format("unknown distribution '{}'; choose one of {}",
                                                 text, fmt::join(kDistributions, ", "))});
}

const char* name_of(distribution which) noexcept {
  return kDistributions[static_cast<std::size_t>(which)];
}

namespace {

/// The number coprime to `keys` next to keys * the golden ratio: multiples of it fill [0, keys)
/// evenly, so popular neighbours in rank lie far apart in the key space.
std::uint64_t coprime_stride(std::uint64_t keys) noexcept {
  constexpr double kGoldenRatio = 0.6180339887498949;
  auto stride = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(kGoldenRatio * static_cast<double>(keys)));
  while (std::gcd(stride, keys) != 1) ++stride;
  return stride;
}

}  // namespace

key_chooser::key_chooser(const key_choice& choice, std::uint64_t keys) noexcept
    : choice_(choice),
      keys_(keys),
      hot_keys_(hot_keys_of(choice, keys)),
      exponential_rate_(exponential_rate_of(choice, keys)),
      stride_(coprime_stride(keys)),
      ranks_(choice.which == distribution::zipfian ? kScrambledRanks : keys, choice.theta) {}

std::uint64_t key_chooser::operator()(base::random& random) const noexcept {
  switch (choice_.which) {
    case distribution::zipfian:
      return fnv1a(ranks_(random)) % keys_;
    case distribution::permuted:
      return spread(ranks_(random));
    case distribution::uniform:
      return random.below(keys_);
    case distribution::latest:
      return ranks_(random);
    case distribution::exponential:
      return exponential_age(random);
    case distribution::sequential:
    case distribution::hotspot:
      break;
  }
  if (hot_keys_ == keys_ || random.unit() < choice_.hotspot_accesses) {
    return hot_or_not(random.below(hot_keys_));
  }
  return hot_or_not(hot_keys_ + random.below(keys_ - hot_keys_));
}

std::optional<std::uint64_t> key_chooser::in_order(std::uint64_t place) const noexcept {
  if (choice_.trace) return (*choice_.trace)[place % choice_.trace->size()];
  if (choice_.which == distribution::sequential) return place % keys_;
  return std::nullopt;
}

void key_chooser::grow_to(std::uint64_t keys) noexcept {
  if (!draws_ages() || keys == keys_) return;
  keys_ = keys;
  ranks_ = zipfian(keys, choice_.theta);
}

/// By inversion, of the distribution cut off at the oldest key.
std::uint64_t key_chooser::exponential_age(base::random& random) const noexcept {
  const double whole = -std::expm1(-exponential_rate_ * static_cast<double>(keys_));
  const double age = -std::log1p(-random.unit() * whole) / exponential_rate_;
  return std::min(static_cast<std::uint64_t>(age), keys_ - 1);
}

/// Returns the key of a rank of a hotspot: ranks below hot_keys_ are hot.
std::uint64_t key_chooser::hot_or_not(std::uint64_t rank) const noexcept {
  if (!choice_.hotspot_at) return spread(rank);
  const auto begin = static_cast<std::uint64_t>(*choice_.hotspot_at * static_cast<double>(keys_));
  return (begin + rank) % keys_;
}

std::uint64_t key_chooser::spread(std::uint64_t rank) const noexcept {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(rank) * stride_ % keys_);
}

}  // namespace isotherm::workload
