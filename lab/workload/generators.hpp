// Which key comes next: the distributions of YCSB (Cooper et al., SoCC 2010).
//
// Zipfian numbers are drawn by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", TOMACS 1996): exact for any skew,
// without a table, with about one uniform number a draw. YCSB's own method (Gray et al., SIGMOD
// 1994) approximates the ranks behind the second and ends at theta = 1.
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

/// Sum of i^-theta for i = 1 .. items, any `theta`; relative error below 10^-10. The first thousand
/// terms are added up, the others follow from the Euler-Maclaurin formula.
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
  /// `items` > 0, `theta` > 0. Takes a few powers: a count of items that grows needs another one.
  zipfian(std::uint64_t items, double theta) noexcept;

  std::uint64_t operator()(base::random& random) const noexcept;

 private:
  std::uint64_t items_;
  double theta_;
  double first_;   ///< integral up to the first item's bar, which is as wide as it is high
  double last_;    ///< integral up to the last item's bar
  double accept_;  ///< a point this close above its item is under the item's bar
};

/// How keys are chosen.
enum class distribution : std::uint8_t {
  zipfian,   ///< YCSB's scrambled: ranks of 10^10 hashed onto the keys, so its tail is flat
  permuted,  ///< Zipfian over the keys themselves, their popularity spread over the key space
  uniform,
  latest,       ///< Zipfian over age: the youngest key is the most popular
  exponential,  ///< over age: YCSB's, by the share of accesses that a share of the youngest takes
  sequential,   ///< each thread goes through the keys from a place of its own, round and round
  hotspot  ///< a share of the keys, spread over the key space, takes a share of the accesses, both
           ///< uniformly
};

/// Parses the names of the distributions, as they stand above.
base::result<distribution> parse_distribution(const std::string& text);
const char* name_of(distribution which) noexcept;

/// Parameters of a chooser.
struct key_choice {
  distribution which = distribution::zipfian;
  double theta = 0.99;            ///< of zipfian, permuted and latest, > 0
  double hotspot_keys = 0.2;      ///< share of the keys that are hot, 0 < share <= 1
  double hotspot_accesses = 0.8;  ///< share of the accesses that go to them, 0..1
  /// Share of the loaded keys whose youngest take `exponential_accesses` of the accesses, > 0.
  /// Both are YCSB's exponential.frac and exponential.percentile.
  double exponential_keys = 0.8571428571;
  double exponential_accesses = 0.95;  ///< 0 < share < 1
  /// Where the hot keys begin, as a share of all, 0 <= share < 1, when they stand side by side (the
  /// skewed partition of SINLK, 6.1); absent: they are spread.
  std::optional<double> hotspot_at = std::nullopt;
  /// Keys to ask for in this order, in place of a distribution. Threads begin at different places
  /// of the trace and start over at its end. Not empty; all are below the number of keys.
  std::shared_ptr<const std::vector<std::uint64_t>> trace = nullptr;
};

/// Keys of `hotspot` that are hot.
std::uint64_t hot_keys_of(const key_choice& choice, std::uint64_t keys) noexcept;

/// Rate of `exponential`: a key has e^rate times the popularity of the next older one.
double exponential_rate_of(const key_choice& choice, std::uint64_t keys) noexcept;

/// Ranks YCSB draws from before it scrambles them.
inline constexpr std::uint64_t kScrambledRanks = 10'000'000'000;

/// Draws numbers in [0, keys). For `latest` and `exponential` the number is an age: 0 is the
/// youngest key.
class key_chooser {
 public:
  key_chooser(const key_choice& choice, std::uint64_t keys) noexcept;

  /// Draws a key; not of those that are asked for in an order.
  std::uint64_t operator()(base::random& random) const noexcept;
  /// The number at a place of an endless order of keys; nullopt when keys are drawn.
  std::optional<std::uint64_t> in_order(std::uint64_t place) const noexcept;
  bool draws_ages() const noexcept {
    return choice_.which == distribution::latest || choice_.which == distribution::exponential;
  }
  /// Draws ages below `keys` from now on. Without ages the loaded keys stay those that are drawn.
  void grow_to(std::uint64_t keys) noexcept;

 private:
  std::uint64_t exponential_age(base::random& random) const noexcept;
  std::uint64_t hot_or_not(std::uint64_t rank) const noexcept;
  /// The key of a rank: neighbours in rank lie far apart, as what is popular does not come in
  /// order.
  std::uint64_t spread(std::uint64_t rank) const noexcept;

  key_choice choice_;
  std::uint64_t keys_;
  std::uint64_t hot_keys_;
  double exponential_rate_;
  std::uint64_t stride_;  ///< of spread(): coprime to keys_, so that ranks map one to one
  zipfian ranks_;
};

}  // namespace isotherm::workload
