// Which key comes next: the distributions of YCSB (Cooper et al., SoCC 2010).
//
// Zipfian numbers follow Gray et al., "Quickly generating billion-record synthetic databases"
// (SIGMOD 1994, figure 7): one uniform number and one power a draw, after zeta(n, theta) is known.
// zeta itself is summed exactly for the first thousand terms and continued by the Euler-Maclaurin
// formula, so that ten thousand million items cost no more than ten.
//
// The scrambled form draws a rank among 10^10, as YCSB does, and hashes it (FNV-1a) onto the keys:
// popular keys lie scattered, and every key is drawn now and then.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"

namespace isotherm::workload {

/// Sum of i^-theta for i = 1 .. items, 0 < theta < 1; relative error below 10^-10.
double zeta(std::uint64_t items, double theta) noexcept;

/// FNV-1a over the eight bytes of `number`, least first: YCSB's scrambling hash.
constexpr std::uint64_t fnv1a(std::uint64_t number) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i) {
    hash ^= number & 0xff;
    hash *= 0x100000001b3u;
    number >>= 8;
  }
  return hash;
}

/// Ranks 0 .. items - 1, rank i with a probability proportional to (i + 1)^-theta.
class zipfian {
 public:
  /// `items` > 0, 0 < `theta` < 1.
  zipfian(std::uint64_t items, double theta) noexcept;

  std::uint64_t operator()(base::random& random) const noexcept;
  std::uint64_t items() const noexcept { return items_; }
  /// Chance that a draw is below `rank`, of the ranks as they are drawn.
  double share_below(std::uint64_t rank) const noexcept;

 private:
  std::uint64_t items_;
  double zeta_;
  double alpha_;
  double eta_;
  double second_;  ///< 1 + 2^-theta: below it, times 1 / zeta, lie the ranks 0 and 1
};

/// How keys are chosen.
enum class distribution : std::uint8_t {
  zipfian,   ///< YCSB's scrambled: ranks of 10^10 hashed onto the keys, so its tail is flat
  permuted,  ///< Zipfian over the keys themselves, their popularity spread over the key space
  uniform,
  latest,  ///< Zipfian over age: the youngest key is the most popular
  hotspot  ///< a share of the keys, spread over the key space, takes a share of the accesses, both
           ///< uniformly
};

/// Parses "zipfian", "permuted", "uniform", "latest" or "hotspot".
base::result<distribution> parse_distribution(const std::string& text);
const char* name_of(distribution which) noexcept;

/// Parameters of a chooser.
struct key_choice {
  distribution which = distribution::zipfian;
  double theta = 0.99;            ///< of zipfian, permuted and latest, 0 < theta < 1
  double hotspot_keys = 0.2;      ///< share of the keys that are hot, 0 < share <= 1
  double hotspot_accesses = 0.8;  ///< share of the accesses that go to them, 0..1
  /// Where the hot keys begin, as a share of all, 0 <= share < 1, when they stand side by side (the
  /// skewed partition of SINLK, 6.1); absent: they are spread.
  std::optional<double> hotspot_at = std::nullopt;
  /// In place of a distribution: the keys, in the order in which they are asked for. Each thread
  /// begins somewhere in it, and anew at its end. Not empty; all below the number of keys.
  std::shared_ptr<const std::vector<std::uint64_t>> trace = nullptr;
};

/// Keys of `hotspot` that are hot.
std::uint64_t hot_keys_of(const key_choice& choice, std::uint64_t keys) noexcept;

/// Ranks YCSB draws from before it scrambles them.
inline constexpr std::uint64_t kScrambledRanks = 10'000'000'000;

/// Draws numbers in [0, keys). For `latest` the number is an age: 0 is the youngest key. Immutable:
/// threads may share one, each with its own random numbers.
class key_chooser {
 public:
  key_chooser(const key_choice& choice, std::uint64_t keys) noexcept;

  std::uint64_t operator()(base::random& random) const noexcept;
  /// Null: keys are drawn.
  const std::vector<std::uint64_t>* trace() const noexcept { return choice_.trace.get(); }
  bool draws_ages() const noexcept { return choice_.which == distribution::latest; }

 private:
  std::uint64_t hot_or_not(std::uint64_t rank) const noexcept;
  /// The key of a rank: neighbours in rank lie far apart, as what is popular does not come in
  /// order.
  std::uint64_t spread(std::uint64_t rank) const noexcept;

  key_choice choice_;
  std::uint64_t keys_;
  std::uint64_t hot_keys_;
  std::uint64_t stride_;  ///< of spread(): coprime to keys_, so that ranks map one to one
  zipfian ranks_;
};

}  // namespace isotherm::workload
