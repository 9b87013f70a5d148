#include "lab/workload/generators.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isotherm::workload {

double zeta(std::uint64_t items, double theta) noexcept {
  const std::uint64_t exact = std::min<std::uint64_t>(items, 1000);
  double sum = 0;
  for (std::uint64_t i = exact; i > 0; --i) sum += std::pow(static_cast<double>(i), -theta);
  if (exact == items) return sum;
  // Euler-Maclaurin for the terms exact + 1 .. items of f(x) = x^-theta: the integral, half of the
  // ends' difference, and a twelfth of the difference of the derivatives.
  const double a = static_cast<double>(exact);
  const double b = static_cast<double>(items);
  const double integral = (std::pow(b, 1 - theta) - std::pow(a, 1 - theta)) / (1 - theta);
  const double ends = (std::pow(b, -theta) - std::pow(a, -theta)) / 2;
  const double slopes = -theta * (std::pow(b, -theta - 1) - std::pow(a, -theta - 1)) / 12;
  return sum + integral + ends + slopes;
}

zipfian::zipfian(std::uint64_t items, double theta) noexcept
    : items_(items),
      zeta_(zeta(items, theta)),
      alpha_(1 / (1 - theta)),
      eta_((1 - std::pow(2.0 / static_cast<double>(items), 1 - theta)) /
           (1 - zeta(2, theta) / zeta_)),
      second_(1 + std::pow(0.5, theta)) {}

std::uint64_t zipfian::operator()(base::random& random) const noexcept {
  const double u = random.unit();
  const double uz = u * zeta_;
  if (uz < 1) return 0;
  if (uz < second_) return std::min<std::uint64_t>(1, items_ - 1);
  const double rank = static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, alpha_);
  return std::min(static_cast<std::uint64_t>(rank), items_ - 1);
}

double zipfian::share_below(std::uint64_t rank) const noexcept {
  if (rank == 0) return 0;
  if (rank >= items_) return 1;
  if (rank == 1) return 1 / zeta_;
  // The uniform number that operator() turns into `rank`.
  const double part = static_cast<double>(rank) / static_cast<double>(items_);
  return std::max(second_ / zeta_, (std::pow(part, 1 / alpha_) - 1) / eta_ + 1);
}

std::uint64_t hot_keys_of(const key_choice& choice, std::uint64_t keys) noexcept {
  const double share = choice.hotspot_keys * static_cast<double>(keys);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(share), 1, keys);
}

base::result<distribution> parse_distribution(const std::string& text) {
  for (const auto which : {distribution::zipfian, distribution::permuted, distribution::uniform,
                           distribution::latest, distribution::hotspot}) {
    if (text == name_of(which)) return which;
  }
  return std::unexpected(base::error{"unknown distribution '" + text +
                                     "'; choose zipfian, permuted, uniform, latest or hotspot"});
}

const char* name_of(distribution which) noexcept {
  switch (which) {
    case distribution::zipfian:
      return "zipfian";
    case distribution::permuted:
      return "permuted";
    case distribution::uniform:
      return "uniform";
    case distribution::latest:
      return "latest";
    case distribution::hotspot:
      break;
  }
  return "hotspot";
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
    case distribution::hotspot:
      break;
  }
  if (hot_keys_ == keys_ || random.unit() < choice_.hotspot_accesses) {
    return hot_or_not(random.below(hot_keys_));
  }
  return hot_or_not(hot_keys_ + random.below(keys_ - hot_keys_));
}

/// Of a hotspot: ranks below hot_keys_ are hot.
std::uint64_t key_chooser::hot_or_not(std::uint64_t rank) const noexcept {
  if (!choice_.hotspot_at) return spread(rank);
  const auto begin = static_cast<std::uint64_t>(*choice_.hotspot_at * static_cast<double>(keys_));
  return (begin + rank) % keys_;
}

std::uint64_t key_chooser::spread(std::uint64_t rank) const noexcept {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(rank) * stride_ % keys_);
}

}  // namespace isotherm::workload
