#include "lab/workload/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
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
  for (const double theta : {-0.01, 0.2, 0.5, 0.99, 1.0, 1.0000001, 1.07, 3.0}) {
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

/// Expects no more deviations from the mean of `degrees` of freedom than a sound generator makes.
void expect_fits(double chi_squared, int degrees) {
  EXPECT_NEAR(chi_squared, degrees, 5 * std::sqrt(2.0 * degrees));
}

TEST(Zipfian, FrequenciesAreThoseOfThePowerLaw) {
  constexpr std::uint64_t kItems = 200;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const double theta : {0.01, 0.5, 0.99, 1.0, 1.07, 2.0}) {
    SCOPED_TRACE(testing::Message() << "theta " << theta);
    const zipfian ranks(kItems, theta);
    base::random random(kSeed);
    std::vector<int> seen(kItems);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t rank = ranks(random);
      ASSERT_LT(rank, kItems);
      ++seen[rank];
    }
    double chi_squared = 0;
    for (std::uint64_t rank = 0; rank < kItems; ++rank) {
      const double expected =
          kDraws * std::pow(static_cast<double>(rank + 1), -theta) / plain_zeta(kItems, theta);
      chi_squared += (seen[rank] - expected) * (seen[rank] - expected) / expected;
    }
    expect_fits(chi_squared, kItems - 1);
  }
}

TEST(Zipfian, TenThousandMillionItemsHaveTheirShares) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const double theta : {0.99, 1.07}) {
    const zipfian ranks(kScrambledRanks, theta);
    base::random random(kSeed);
    const std::array<std::uint64_t, 5> ends{1, 2, 1000, 1'000'000, 1'000'000'000};
    std::array<int, 5> below{};
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t rank = ranks(random);
      for (std::size_t end = 0; end < ends.size(); ++end) below[end] += rank < ends[end];
    }
    for (std::size_t end = 0; end < ends.size(); ++end) {
      const double share = zeta(ends[end], theta) / zeta(kScrambledRanks, theta);
      EXPECT_NEAR(below[end], kDraws * share, 5 * std::sqrt(kDraws * share * (1 - share)))
          << ends[end] << " of theta " << theta;
    }
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

TEST(KeyChooser, LatestReachesAllRecordsThatAreThere) {
  key_chooser chooser({.which = distribution::latest, .theta = 0.2}, 10);
  chooser.grow_to(1000);
  base::random random(kSeed);
  std::vector<int> seen(1000);
  for (int i = 0; i < kDraws; ++i) ++seen.at(chooser(random));
  EXPECT_GT(*std::ranges::min_element(seen), 0) << "seed " << kSeed;
}

TEST(KeyChooser, OtherKeysStayThoseThatWereLoaded) {
  key_chooser chooser({.which = distribution::uniform}, 10);
  chooser.grow_to(1000);
  base::random random(kSeed);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(chooser(random), 10u);
}

TEST(KeyChooser, ExponentialHasTheShareThatWasAskedFor) {
  constexpr std::uint64_t kKeys = 1000;
  const key_choice choice{
      .which = distribution::exponential, .exponential_keys = 0.1, .exponential_accesses = 0.9};
  const key_chooser chooser(choice, kKeys);
  EXPECT_TRUE(chooser.draws_ages());
  base::random random(kSeed);
  std::vector<int> seen(kKeys);
  for (int i = 0; i < kDraws; ++i) ++seen.at(chooser(random));
  // A tenth of the keys has 90%, the next tenth 90% of the rest.
  double left = 1;
  for (int tenth = 0; tenth < 3; ++tenth, left /= 10) {
    const auto* const first = seen.data() + tenth * 100;
    const double share = 0.9 * left;
    EXPECT_NEAR(std::accumulate(first, first + 100, 0), kDraws * share,
                5 * std::sqrt(kDraws * share * (1 - share)))
        << "tenth " << tenth << ", seed " << kSeed;
  }
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
  for (const auto* const name :
       {"zipfian", "permuted", "uniform", "latest", "exponential", "sequential", "hotspot"}) {
    const auto which = parse_distribution(name);
    ASSERT_TRUE(which) << name;
    EXPECT_STREQ(name_of(*which), name);
  }
  EXPECT_EQ(parse_distribution("hotspot"), distribution::hotspot);
  EXPECT_EQ(parse_distribution("sequential"), distribution::sequential);
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

TEST(Mix, SharesAreReadByName) {
  const auto shares = parse_mix("read=60,delete=15,multiget=25");
  ASSERT_TRUE(shares);
  EXPECT_EQ(shares->read, 60u);
  EXPECT_EQ(shares->remove, 15u);
  EXPECT_EQ(shares->multiget, 25u);
  for (const auto* const wrong : {"", "read", "read=", "read=99", "read=101", "fly=100", "read=1e2",
                                  "read=50,read=50", "read=100,", "read=-1,update=101"}) {
    const auto refused = parse_mix(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().message.find("add up to 100"), std::string::npos);
  }
}

TEST(RequestStream, AMixHasItsShares) {
  const key_chooser chooser({}, 1000);
  const mix shares =
      *parse_mix("read=10,update=5,insert=15,scan=20,modify=10,delete=10,multiget=10,incr=20");
  std::vector<request> batch(kDraws);
  request_stream(shares, chooser, kSeed, 0).fill(batch);
  std::array<double, kOperations> seen{};
  for (const request& next : batch) ++seen[static_cast<std::size_t>(next.kind)];
  const std::array expected{0.10, 0.05, 0.15, 0.20, 0.10, 0.10, 0.10, 0.20};
  for (std::size_t kind = 0; kind < kOperations; ++kind) {
    EXPECT_NEAR(seen[kind] / kDraws, expected[kind], 0.005)
        << name_of(static_cast<operation>(kind)) << ", seed " << kSeed;
  }
}

TEST(RequestStream, AMultigetHasItsKeysAndRepeatsThem) {
  const mix shares = *parse_mix("multiget=100");
  const key_chooser chooser({.which = distribution::uniform}, 1'000'000);
  request_stream stream(shares, chooser, kSeed, 0);
  std::vector<request> batch(2);
  stream.fill(batch);
  EXPECT_EQ(stream.keys_of(batch[0])[0], batch[0].key);
  EXPECT_EQ(stream.keys_of(batch[0]), stream.keys_of(batch[0]));
  EXPECT_NE(stream.keys_of(batch[0]), stream.keys_of(batch[1]));
  EXPECT_NE(stream.keys_of(batch[0])[1], stream.keys_of(batch[0])[2]);
}

TEST(RequestStream, SequentialGoesThroughAllKeysFromAPlaceOfItsOwn) {
  constexpr std::uint64_t kKeys = 700;
  const key_chooser chooser({.which = distribution::sequential}, kKeys);
  std::array<std::uint64_t, 2> begins{};
  for (unsigned thread = 0; thread < 2; ++thread) {
    request_stream stream(parse_workload("c")->shares, chooser, kSeed, thread);
    std::vector<request> batch(kBatch);
    std::uint64_t expected = 0;
    for (int i = 0; i < 2; ++i) {
      stream.fill(batch);
      if (i == 0) begins[thread] = expected = batch[0].key;
      for (const request& next : batch) {
        ASSERT_EQ(next.key, expected);
        expected = (expected + 1) % kKeys;
      }
    }
  }
  EXPECT_NE(begins[0], begins[1]);
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
