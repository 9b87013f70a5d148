#include "lab/traces/generate/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "lab/traces/writer.hpp"

namespace isotherm::traces {
namespace {

/// All that a trace told, added up.
struct sums {
  std::uint64_t requests = 0;
  std::map<operation, double> shares;
  std::map<std::string, std::uint64_t> uses;
  std::uint64_t value_bytes = 0, seek_records = 0;
  std::map<std::uint32_t, std::uint64_t> ttls;
  std::uint64_t last_us = 0;

  double share_of_top(double share) const {
    std::vector<std::uint64_t> counts;
    for (const auto& [key, count] : uses) counts.push_back(count);
    std::ranges::sort(counts, std::greater());
    double sum = 0;
    for (std::size_t i = 0;
         i < static_cast<std::size_t>(share * static_cast<double>(counts.size())); ++i) {
      sum += static_cast<double>(counts[i]);
    }
    return sum / static_cast<double>(requests);
  }
};

sums add_up(source& trace) {
  sums found;
  request next;
  while (*trace.next(next)) {
    ++found.requests;
    found.shares[next.kind] += 1;
    ++found.uses[std::string(next.key)];
    found.value_bytes += next.value_size;
    found.seek_records += next.kind == operation::seek ? next.records : 0;
    if (next.ttl_s > 0) ++found.ttls[next.ttl_s];
    EXPECT_GE(next.time_us, found.last_us);
    found.last_us = next.time_us;
  }
  for (auto& [kind, share] : found.shares) share /= static_cast<double>(found.requests);
  return found;
}

sums draw(std::string_view name, const generate_options& asked) {
  const auto made = generate(name, asked);
  EXPECT_TRUE(made) << made.error().message;
  return add_up(**made);
}

generate_options asking(std::uint64_t requests) {
  generate_options asked;
  asked.requests = requests;
  return asked;
}

TEST(Generate, MixgraphHasItsOperationsSizesAndRanges) {
  const sums found = draw("mixgraph", asking(200'000));
  EXPECT_EQ(found.requests, 200'000u);
  EXPECT_NEAR(found.shares.at(operation::get), 0.85, 0.005);
  EXPECT_NEAR(found.shares.at(operation::set), 0.14, 0.005);
  EXPECT_NEAR(found.shares.at(operation::seek), 0.01, 0.002);
  // A generalised Pareto distribution has the mean sigma / (1 - k): 34.5, and half a byte for
  // rounding up; values below 10 bytes become 10.
  EXPECT_NEAR(static_cast<double>(found.value_bytes) / 200'000, 35.8, 1.0);
  EXPECT_GT(found.seek_records, 2000u * 20) << "a tail of long seeks";
  // The first of 30 ranges takes .78 of the sum of both exponentials.
  std::map<std::uint64_t, double> ranges;
  for (const auto& [key, count] : found.uses) {
    ranges[std::stoull(key) / (5'000'000 / 30)] += static_cast<double>(count) / 200'000;
  }
  EXPECT_LE(ranges.size(), 30u);
  double most = 0;
  for (const auto& [range, share] : ranges) most = std::max(most, share);
  EXPECT_NEAR(most, 0.784, 0.01);
  EXPECT_NEAR(static_cast<double>(found.last_us) / 1e6, 4.0, 0.1) << "50,000 a second";
}

TEST(Generate, TwittersClustersHaveTheirTable) {
  const sums seven = draw("twitter-7", asking(200'000));
  EXPECT_NEAR(seven.shares.at(operation::set), 0.18, 0.005);
  EXPECT_EQ(seven.value_bytes, 200'000u * 1936);
  EXPECT_LE(seven.uses.size(), 200'000 / 72.9);
  EXPECT_NEAR(static_cast<double>(seven.ttls.at(6480)) / (200'000 * 0.18), 0.28, 0.02);
  const sums twenty_three = draw("twitter-23", asking(200'000));
  EXPECT_NEAR(twenty_three.shares.at(operation::incr), 0.30 / 0.99, 0.005);
  EXPECT_NEAR(twenty_three.shares.at(operation::remove), 0.02 / 0.99, 0.002);
  EXPECT_GT(seven.share_of_top(0.1), 0.7) << "alpha 1.07";
  EXPECT_LT(twenty_three.share_of_top(0.1), 0.25) << "alpha 0.27";
  for (const auto& [key, count] : twenty_three.uses) {
    ASSERT_TRUE(key.starts_with("c") || key.starts_with("v")) << "counters are keys of their own";
  }
}

TEST(Generate, TheHotSpotMovesOn) {
  const auto made = generate("hotspot-shift", asking(100'000)).value();
  std::array<std::map<std::string, int>, 4> quarters;
  request next;
  for (int i = 0; *made->next(next); ++i)
    ++quarters[static_cast<std::size_t>(i / 25'000)][std::string(next.key)];
  const auto common = [&](int a, int b) {
    return std::ranges::count_if(quarters[a],
                                 [&](const auto& one) { return quarters[b].contains(one.first); });
  };
  EXPECT_LT(common(0, 1), 1500) << "of some 22,500 keys";
  EXPECT_LT(common(2, 3), 1500);
}

TEST(Generate, TheSameSeedDrawsTheSameRequests) {
  for (const auto& each : generators()) {
    if (each.name == "cachelib") continue;
    auto asked = asking(1000);
    EXPECT_EQ(draw(each.name, asked).uses, draw(each.name, asked).uses) << each.name;
    const auto before = draw(each.name, asked).uses;
    asked.seed = 2;
    EXPECT_NE(draw(each.name, asked).uses, before) << each.name;
  }
}

class Folder : public testing::Test {
 protected:
  ~Folder() override { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path_ + name) << text;
  }

  std::string path_ = [] {
    std::string made = testing::TempDir() + "traces.XXXXXX";
    return std::string(mkdtemp(made.data())) + '/';
  }();
};

using GenerateCacheLib = Folder;

TEST_F(GenerateCacheLib, DrawsBucketsAndLoneKeys) {
  write("config.json", R"({"test_config": {"poolDistributions": [{"getRatio": 0.5, "setRatio": 0.2,
        "delRatio": 0, "loneGetRatio": 0.3, "keySizeRange": [8, 16]}]}})");
  write("pop.json", R"({"oneHits": 0, "popularityBuckets": [1, 10, 1000],
        "popularityWeights": [600, 300, 100]})");
  write("sizes.json", R"({"valSizeRange": [100, 1000], "valSizeRangeProbability": [3, 1]})");
  auto asked = asking(100'000);
  asked.distributions = path_;
  const sums found = draw("cachelib", asked);
  EXPECT_NEAR(found.shares.at(operation::get), 0.8, 0.01);
  EXPECT_EQ(found.shares.count(operation::remove), 0u);
  std::uint64_t most = 0;
  std::uint64_t lone = 0;
  for (const auto& [key, count] : found.uses) {
    most = std::max(most, count);
    lone += key.starts_with("l");
    if (key.starts_with("l")) ASSERT_EQ(count, 1u);
  }
  EXPECT_NEAR(static_cast<double>(lone), 30'000, 1000);
  EXPECT_NEAR(static_cast<double>(most), 42'000, 1000) << "6 of 10 of those that are not alone";
}

TEST_F(GenerateCacheLib, RefusesWhatIsNoDistribution) {
  auto asked = asking(10);
  EXPECT_TRUE(generate("cachelib", asked).error().message.contains("needs --distributions"));
  asked.distributions = path_;
  EXPECT_TRUE(generate("cachelib", asked).error().message.contains("cannot read"));
  write("config.json", R"({"test_config": {"getRatio": 1, "keySizeRange": [8, 16]}})");
  write("pop.json", R"({"popularityBuckets": [1, 10], "popularityWeights": [600]})");
  write("sizes.json", R"({"valSizeRange": [100], "valSizeRangeProbability": [3]})");
  EXPECT_TRUE(
      generate("cachelib", asked).error().message.contains("not a distribution of CacheLib"));
  write("pop.json", "[1]");
  EXPECT_TRUE(generate("cachelib", asked).error().message.contains("no JSON object"));
  asked.keys = 7;
  EXPECT_TRUE(generate("cachelib", asked).error().message.contains("--keys"));
}

TEST(Generate, NamesTheGeneratorsThatThereAre) {
  EXPECT_TRUE(generate("x", asking(1)).error().message.contains("mixgraph, cachelib, twitter-7"));
}

using Writer = Folder;

TEST_F(Writer, WritesFilesThatAreReadBack) {
  for (const std::string name : {"t.csv", "t.csv.zst", "t.csv.gz", "t.csv.lz4"}) {
    auto file = writer::create(path_ + name).value();
    const auto made = generate("twitter-23", asking(40'000)).value();
    request next;
    while (*made->next(next)) ASSERT_TRUE(file.add(next));
    EXPECT_FALSE(std::filesystem::exists(path_ + name)) << "before it is whole";
    ASSERT_TRUE(file.finish());
    const auto read = open(path_ + name, {}).value();
    EXPECT_EQ(read->format(), "csv");
    EXPECT_TRUE(read->has_times());
    const sums back = add_up(*read);
    const sums drawn = draw("twitter-23", asking(40'000));
    EXPECT_EQ(back.uses, drawn.uses) << name;
    EXPECT_EQ(back.shares, drawn.shares);
    EXPECT_EQ(back.ttls, drawn.ttls);
    EXPECT_EQ(back.last_us, drawn.last_us);
    EXPECT_EQ(read->malformed().count, 0u);
  }
  EXPECT_TRUE(writer::create(path_ + "t.xz").error().message.contains("not written as xz"));
  EXPECT_FALSE(writer::create(path_ + "none/t").has_value());
}

}  // namespace
}  // namespace isotherm::traces
