// db_bench's mixgraph: Cao, Dong, Vemuri, Du, "Characterizing, modeling, and benchmarking RocksDB
// key-value workloads at Facebook", FAST 2020, with the parameters of prefix_dist that RocksDB's
// pull request 5953 gives for ZippyDB.
//
// Keys lie in 30 ranges side by side, whose popularity follows a sum of two exponentials; in a
// range, popularity follows a power. db_bench takes the range, the key and the operation from one
// random number; here each has its own, so that they do not depend on each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "lab/traces/generate/descriptors.hpp"
#include "lab/traces/generate/discrete.hpp"

namespace isotherm::traces {
namespace {

constexpr std::uint64_t kKeys = 5'000'000;
constexpr std::uint32_t kKeySize = 48;
constexpr unsigned kRanges = 30;
constexpr std::uint32_t kLeastValue = 10, kMostValue = 1024, kMostRecords = 10'000;
constexpr double kQueries = 50'000, kSwing = 350, kFrequency = 0.0105;  // d + a sin(b seconds)
constexpr double kRateInterval = 5;                                     // seconds between changes

/// Two exponentials of a range's rank, from 1.
double range_weight(unsigned rank) noexcept {
  return 14.18 * std::exp(-2.917 * rank) + 0.0164 * std::exp(-0.08082 * rank);
}

/// Weights of the ranges, shuffled once and for all, as db_bench does: the popular ranges do not
/// stand side by side, whatever the seed.
std::vector<double> range_weights() {
  std::vector<double> weights;
  for (unsigned rank = 1; rank <= kRanges; ++rank) weights.push_back(range_weight(rank));
  base::random order(kRanges);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::swap(weights[i], weights[order.below(kRanges)]);
  }
  return weights;
}

/// The inverse of the generalised Pareto distribution with location 0.
std::uint64_t pareto(double share, double k, double sigma) noexcept {
  return static_cast<std::uint64_t>(std::ceil(sigma * (std::pow(1 - share, -k) - 1) / k));
}

class mixgraph final : public generated_source {
 public:
  explicit mixgraph(const generate_options& asked)
      : generated_source(kMixgraph.name, asked, kQueries),
        is_rate_given_(asked.rate > 0),
        range_keys_(std::max<std::uint64_t>(asked.keys.value_or(kKeys) / kRanges, 1)) {}

 private:
  void draw(request& to) override {
    static constexpr operation kKinds[] = {operation::get, operation::set, operation::seek};
    to.kind = kKinds[kinds_(random_)];
    to.key_size = kKeySize;
    to.value_size = value_size();
    if (to.kind == operation::seek) {
      to.records = static_cast<std::uint32_t>(pareto(random_.unit(), 2.517, 14.236) % kMostRecords);
    }
    key_.clear();
    fmt::format_to(std::back_inserter(key_), "{:016}", range_keys_ * ranges_(random_) + in_range());
    to.key = key_;
  }

  /// A key of the range: the power's inverse makes a rank, whose hash is the key.
  std::uint64_t in_range() noexcept {
    const double rank = std::ceil(std::pow(random_.unit() / 0.002312, 1 / 0.3467));
    return base::mix64(static_cast<std::uint64_t>(rank)) % range_keys_;
  }

  std::uint32_t value_size() noexcept {
    const std::uint64_t drawn = pareto(random_.unit(), 0.2615, 25.45);
    if (drawn > kMostValue) return static_cast<std::uint32_t>(drawn % kMostValue);
    return std::max(static_cast<std::uint32_t>(drawn), kLeastValue);
  }

  double rate_at(double seconds) const override {
    if (is_rate_given_) return generated_source::rate_at(seconds);
    const double since = std::floor(seconds / kRateInterval) * kRateInterval;
    return kQueries + kSwing * std::sin(kFrequency * since);
  }

  bool is_rate_given_;
  std::uint64_t range_keys_;
  discrete ranges_{range_weights()};
  discrete kinds_{{0.85, 0.14, 0.01}};
};

base::result<std::unique_ptr<source>> make(const generate_options& asked) {
  return std::make_unique<mixgraph>(asked);
}

}  // namespace

const generator kMixgraph = {
    .name = "mixgraph",
    .about =
        "db_bench's mixgraph with 30 key ranges (RocksDB, pull request 5953): 85% get, 14% "
        "set, 1% seek; 5,000,000 keys",
    .make = make};

}  // namespace isotherm::traces
