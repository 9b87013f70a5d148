#include "lab/workload/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "lab/workload/ycsb.hpp"

namespace isotherm::workload {
namespace {

constexpr std::uint64_t kSeed = 42;
constexpr int kDraws = 400'000;

double plain_zeta(std::uint64_t items, double theta) {
  double sum = 0;
  for (std::uint64_t i = items; i > 0; --i) sum += std::pow(static_cast<double>(i), -theta);
  return sum;
}

TEST(Zeta, EqualsThePlainSum) {
  for (const double theta : {0.2, 0.5, 0.9, 0.99}) {
    for (const std::uint64_t items : {1, 2, 999, 1000, 1001, 50'000, 1'000'000}) {
      const double truth = plain_zeta(items, theta);
      EXPECT_NEAR(zeta(items, theta) / truth, 1, 1e-10) << items << " items, theta " << theta;
    }
  }
}

TEST(Zeta, EqualsTheConstantOfYcsb) {
  // ScrambledZipfianGenerator of YCSB ships zeta(10^10, 0.99) as 26.46902820178302.
  EXPECT_NEAR(zeta(kScrambledRanks, 0.99), 26.46902820178302, 1e-7);
}

TEST(Zipfian, FrequenciesFollowThePowerLaw) {
  constexpr std::uint64_t kItems = 1000;
  const zipfian ranks(kItems, 0.99);
  base::random random(kSeed);
  std::vector<int> seen(kItems);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t rank = ranks(random);
    ASSERT_LT(rank, kItems);
    ++seen[rank];
  }
  const double scale = kDraws / plain_zeta(kItems, 0.99);
  // The first two ranks are exact in Gray's method; the others approximate, within a few percent
  // when they are taken together.
  EXPECT_NEAR(seen[0] / scale, 1, 0.02);
  EXPECT_NEAR(seen[1] / (scale * std::pow(2, -0.99)), 1, 0.02);
  for (const auto& [from, to] : {std::pair{2, 10}, {10, 100}, {100, 1000}}) {
    double expected = 0, found = 0;
    for (int i = from; i < to; ++i) {
      expected += scale * std::pow(i + 1, -0.99);
      found += seen[i];
    }
    EXPECT_NEAR(found / expected, 1, 0.1) << "ranks " << from << " to " << to;
  }
}

TEST(Zipfian, OneItemIsAlwaysDrawn) {
  const zipfian ranks(1, 0.99);
  base::random random(kSeed);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ranks(random), 0u);
}

TEST(Fnv1a, HasThePublishedConstants) {
  // Eight zero bytes: the offset basis times the prime, eight times.
  std::uint64_t truth = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i) truth *= 0x100000001b3u;
  EXPECT_EQ(fnv1a(0), truth);
  EXPECT_NE(fnv1a(1), fnv1a(256)) << "the place of a byte matters";
}

/// Draws by key, most popular first, and the keys in that order.
struct popularity {
  std::vector<int> counts;
  std::vector<std::uint64_t> keys;
};
popularity draw(const key_choice& choice, std::uint64_t keys) {
  const key_chooser chooser(choice, keys);
  base::random random(kSeed);
  std::vector<int> seen(keys);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t key = chooser(random);
    EXPECT_LT(key, keys);
    ++seen[key];
  }
  popularity result;
  for (std::uint64_t key = 0; key < keys; ++key) result.keys.push_back(key);
  std::ranges::sort(result.keys, [&](auto a, auto b) { return seen[a] > seen[b]; });
  for (const auto key : result.keys) result.counts.push_back(seen[key]);
  return result;
}

TEST(KeyChooser, ZipfianIsSkewedAndScattered) {
  constexpr std::uint64_t kKeys = 10'000;
  const popularity found = draw({}, kKeys);
  EXPECT_EQ(found.keys[0], fnv1a(0) % kKeys);
  EXPECT_EQ(found.keys[1], fnv1a(1) % kKeys);
  // Rank 0 has a share of 1 / zeta(10^10); its key gets little more from the other ranks.
  EXPECT_NEAR(found.counts[0] / (kDraws / zeta(kScrambledRanks, 0.99)), 1, 0.03);
  std::uint64_t low = 0;
  for (int i = 0; i < 100; ++i) low += found.keys[i] < kKeys / 2;
  EXPECT_GT(low, 25u);
  EXPECT_LT(low, 75u);
}

TEST(KeyChooser, PermutedIsZipfianOverTheKeysAndScattered) {
  constexpr std::uint64_t kKeys = 10'000;
  const popularity found = draw({.which = distribution::permuted}, kKeys);
  for (const int rank : {0, 1, 9}) {
    const double share = std::pow(rank + 1, -0.99) / zeta(kKeys, 0.99);
    EXPECT_NEAR(found.counts[rank] / (kDraws * share), 1, 0.05) << rank;
  }
  std::uint64_t low = 0;
  for (int i = 0; i < 100; ++i) low += found.keys[i] < kKeys / 2;
  EXPECT_GT(low, 25u);
  EXPECT_LT(low, 75u);
}

TEST(KeyChooser, PermutedReachesEveryKey) {
  for (const std::uint64_t keys : {1, 2, 6, 55, 64}) {
    const popularity found = draw({.which = distribution::permuted, .theta = 0.01}, keys);
    EXPECT_GT(found.counts.back(), 0) << keys;
  }
}

TEST(KeyChooser, UniformHasTheVarianceOfAPoissonCount) {
  constexpr std::uint64_t kKeys = 1000;
  const popularity found = draw({.which = distribution::uniform}, kKeys);
  const double mean = static_cast<double>(kDraws) / kKeys;
  double chi_squared = 0;
  for (const int count : found.counts) chi_squared += (count - mean) * (count - mean) / mean;
  // 999 degrees of freedom: mean 999, deviation 44.7; five deviations either way.
  EXPECT_NEAR(chi_squared, 999, 224);
}

TEST(KeyChooser, LatestPrefersTheYoungest) {
  const key_chooser chooser({.which = distribution::latest}, 1000);
  EXPECT_TRUE(chooser.draws_ages());
  const popularity found = draw({.which = distribution::latest}, 1000);
  EXPECT_EQ(found.keys[0], 0u);
  EXPECT_EQ(found.keys[1], 1u);
  EXPECT_NEAR(found.counts[0] / (kDraws / zeta(1000, 0.99)), 1, 0.02);
}

TEST(KeyChooser, AHotspotSideBySideIsWhereItWasAskedFor) {
  constexpr std::uint64_t kKeys = 1000;
  const key_chooser choose({.which = distribution::hotspot,
                            .hotspot_keys = 0.05,
                            .hotspot_accesses = 0.9,
                            .hotspot_at = 0.98},
                           kKeys);
  base::random random(7);
  int hot = 0;
  constexpr int kPicked = 20'000;
  for (int i = 0; i < kPicked; ++i) {
    const std::uint64_t key = choose(random);
    ASSERT_LT(key, kKeys);
    hot += key >= 980 || key < 30;  // it goes on at the beginning
  }
  EXPECT_NEAR(static_cast<double>(hot) / kPicked, 0.9, 0.01);
}

TEST(KeyChooser, HotspotSplitsAccessesAsAsked) {
  constexpr std::uint64_t kKeys = 1000;
  const key_chooser chooser(
      {.which = distribution::hotspot, .hotspot_keys = 0.1, .hotspot_accesses = 0.7}, kKeys);
  base::random random(kSeed);
  std::vector<int> counts(kKeys);
  for (int i = 0; i < kDraws; ++i) ++counts[chooser(random)];
  int hot_keys = 0, hot = 0, first_half = 0;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    if (counts[key] < kDraws / static_cast<int>(kKeys)) continue;
    ++hot_keys;
    hot += counts[key];
    first_half += key < kKeys / 2;
  }
  EXPECT_EQ(hot_keys, 100);
  EXPECT_NEAR(static_cast<double>(hot) / kDraws, 0.7, 0.005);
  EXPECT_NEAR(first_half, 50, 2);  // spread over the key space
}

TEST(Distribution, NamesReadBack) {
  for (const auto which : {distribution::zipfian, distribution::permuted, distribution::uniform,
                           distribution::latest, distribution::hotspot}) {
    EXPECT_EQ(parse_distribution(name_of(which)), which);
  }
  EXPECT_FALSE(parse_distribution("gauss"));
}

TEST(Workload, SharesAreThoseOfYcsbAndAddUp) {
  for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'}) {
    const auto parsed = parse_workload(std::string(1, letter));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->letter, letter);
    const mix& shares = parsed->shares;
    EXPECT_EQ(shares.read + shares.update + shares.insert + shares.scan + shares.modify, 100u);
  }
  EXPECT_EQ(parse_workload("D")->keys, distribution::latest);
  EXPECT_FALSE(parse_workload("g"));
  EXPECT_FALSE(parse_workload(""));
  EXPECT_FALSE(parse_workload("ab"));
}

TEST(RequestStream, KeepsSharesAndRepeatsForASeed) {
  const key_chooser chooser({}, 1000);
  const mix shares = parse_workload("e")->shares;
  std::vector<request> first(20'000), second(20'000);
  request_stream(shares, chooser, kSeed, 0).fill(first);
  request_stream(shares, chooser, kSeed, 0).fill(second);
  int scans = 0;
  double length = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].key, second[i].key);
    ASSERT_EQ(first[i].kind, second[i].kind);
    if (first[i].kind != operation::scan) continue;
    ++scans;
    ASSERT_GE(first[i].scan_length, 1);
    ASSERT_LE(first[i].scan_length, kLongestScan);
    length += first[i].scan_length;
  }
  EXPECT_NEAR(scans / 20'000.0, 0.95, 0.01);
  EXPECT_NEAR(length / scans, 50.5, 1.5);
}

std::vector<std::uint64_t> keys_of(request_stream stream) {
  std::vector<request> batch(kBatch);
  stream.fill(batch);
  std::vector<std::uint64_t> keys;
  for (const request& one : batch) keys.push_back(one.key);
  return keys;
}

TEST(RequestStream, NoSeedThreadOrBatchRepeatsAnother) {
  const key_chooser chooser({.which = distribution::uniform}, 1'000'000);
  const mix reads = parse_workload("c")->shares;
  const auto keys = keys_of({reads, chooser, kSeed, 0});
  EXPECT_NE(keys, keys_of({reads, chooser, kSeed + 1, 0}));
  EXPECT_NE(keys, keys_of({reads, chooser, kSeed, 1}));
  request_stream later(reads, chooser, kSeed, 0);
  later.skip(1);
  EXPECT_NE(keys, keys_of(later));
}

TEST(RequestStream, SkippingIsReadingOn) {
  const key_chooser chooser({}, 1'000'000);
  request_stream read_on(parse_workload("a")->shares, chooser, kSeed, 3);
  request_stream skipped = read_on;
  std::vector<request> batch(kBatch);
  for (int i = 0; i < 5; ++i) read_on.fill(batch);
  skipped.skip(5);
  EXPECT_EQ(keys_of(read_on), keys_of(skipped));
}

TEST(RequestStream, ATraceIsSentInItsOrderFromSomewhereAndRoundAndRound) {
  key_choice choice;
  choice.trace =
      std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{9, 3, 3, 7, 1});
  const key_chooser chooser(choice, 10);
  request_stream stream(parse_workload("c")->shares, chooser, kSeed, 1);
  request_stream copy = stream;
  std::vector<std::uint64_t> keys = keys_of(copy);
  copy.skip(1);
  std::ranges::copy(keys_of(copy), std::back_inserter(keys));
  const auto& trace = *choice.trace;
  const auto begins_at = [&](std::size_t first) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] != trace[(first + i) % trace.size()]) return false;
    }
    return true;
  };
  int places = 0;
  for (std::size_t first = 0; first < trace.size(); ++first) places += begins_at(first);
  EXPECT_EQ(places, 1);
}

}  // namespace
}  // namespace isotherm::workload
