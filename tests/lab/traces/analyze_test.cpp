#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "lab/traces/analyze/figures.hpp"
#include "lab/traces/analyze/picture.hpp"
#include "lab/traces/analyze/report.hpp"
#include "lab/traces/generate/generator.hpp"

namespace isotherm::traces {
namespace {

figures of(const std::string& text, const follow_limits& limits = {}) {
  const auto opened = open_stream(std::make_unique<std::istringstream>(text), "t", {}).value();
  return analyze(*opened, limits).value();
}

TEST(Analyze, CountsAllExactly) {
  const figures found =
      of("time,op,key,key_size,value_size\n"
         "1,set,a,10,100\n2,get,a,10,100\n3,get,b,20,50\n4,get,a,10,120\n9.5,delete,c,30,0\n");
  EXPECT_EQ(found.requests, 5u);
  EXPECT_EQ(found.by_kind, (std::array<std::uint64_t, kOperations>{3, 1, 1, 0, 0}));
  EXPECT_EQ(found.keys, 3);
  EXPECT_EQ(found.key_bytes, 60);
  EXPECT_EQ(found.value_bytes, 170) << "the last size of each key";
  EXPECT_EQ(found.mean_value, 92.5);
  EXPECT_EQ(found.uses, (std::vector<std::uint64_t>{3, 1, 1}));
  EXPECT_DOUBLE_EQ(found.used_once, 2.0 / 3);
  EXPECT_EQ(found.seconds, 8.5);
  EXPECT_DOUBLE_EQ(found.share_of_top(0.3), 0.6);
}

TEST(Analyze, FindsTheSpreadOfGaps) {
  // Key x comes each 10 requests; y 3 times at once and then not for long, again and again.
  std::string text = "key,value_size\n";
  for (int i = 0; i < 1000; ++i) {
    const bool is_y = i % 200 < 3;
    text += is_y ? "y,300\n" : i % 10 == 5 ? "x,100\n" : "filler" + std::to_string(i) + ",0\n";
  }
  const figures found = of(text);
  const auto& sizes = found.sizes;
  EXPECT_EQ(sizes[2].gapped_keys, 1u) << "x";
  EXPECT_EQ(sizes[2].median_gap, 10);
  EXPECT_EQ(sizes[2].over_5, 0);
  EXPECT_EQ(sizes[3].gapped_keys, 1u) << "y: gaps of 1, 1 and 198";
  EXPECT_EQ(sizes[3].over_30, 1);
  EXPECT_EQ(sizes[0].gapped_keys, 0u);
  EXPECT_GT(sizes[0].keys, 800u);
}

TEST(Analyze, FitsZipfsLaw) {
  for (const auto& [name, theta] : {std::pair{"twitter-7", 1.0666}, {"twitter-23", 0.274}}) {
    generate_options asked;
    asked.requests = 2'000'000;
    asked.keys = 20'000;
    const auto drawn = generate(name, asked).value();
    const figures found = analyze(*drawn, {}).value();
    // Cluster 23 has two sets of keys, counters and values, which share ranks.
    EXPECT_NEAR(found.theta, theta, 0.02) << name;
    EXPECT_LT(found.misfit, 0.02) << name;
  }
}

TEST(Analyze, FindsMissesOfLruCaches) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i % 100) + "\n";
  const figures found = of(text);
  for (const auto& [share, misses] : found.lru) {
    EXPECT_EQ(misses, 1.0) << "a loop over 100 keys misses in each cache of less: " << share;
  }
  text.clear();
  for (int i = 0; i < 10'000; ++i) text += i % 2 == 0 ? "hot\n" : std::to_string(i) + "\n";
  EXPECT_NEAR(of(text).lru[0].misses, 0.5, 0.001);
}

TEST(Analyze, SamplesKeysWhereTheyAreTooMany) {
  generate_options asked;
  asked.requests = 400'000;
  asked.keys = 100'000;
  const auto all = analyze(*generate("twitter-23", asked).value(), {}).value();
  const auto some =
      analyze(*generate("twitter-23", asked).value(), {.keys = 20'000, .uses = 1 << 20}).value();
  const auto fewer =
      analyze(*generate("twitter-23", asked).value(), {.keys = 1 << 20, .uses = 60'000}).value();
  EXPECT_EQ(all.one_in, 1);
  for (const figures& sampled : {some, fewer}) {
    EXPECT_EQ(sampled.one_in, 8);
    EXPECT_EQ(sampled.requests, all.requests);
    EXPECT_EQ(sampled.by_kind, all.by_kind) << "operations are counted, not sampled";
    EXPECT_NEAR(sampled.keys, all.keys, 0.02 * all.keys);
    EXPECT_NEAR(sampled.value_bytes, all.value_bytes, 0.03 * all.value_bytes);
    EXPECT_NEAR(sampled.theta, all.theta, 0.02);
    for (std::size_t i = 0; i < all.lru.size(); ++i) {
      EXPECT_NEAR(sampled.lru[i].misses, all.lru[i].misses, 0.03) << all.lru[i].share;
    }
    for (std::size_t i = 0; i < all.sizes.size(); ++i) {
      if (all.sizes[i].gapped_keys < 1000) continue;
      EXPECT_NEAR(sampled.sizes[i].over_5, all.sizes[i].over_5, 0.03);
      EXPECT_NEAR(sampled.sizes[i].median_gap, all.sizes[i].median_gap,
                  0.05 * all.sizes[i].median_gap);
    }
  }
}

TEST(Analyze, DrawsUsesOverTime) {
  generate_options asked;
  asked.requests = 240'000;
  asked.keys = 7200;  // of which some are never drawn
  const figures found = analyze(*generate("hotspot-shift", asked).value(), {}).value();
  EXPECT_EQ(found.heat.requests_per_row, 10'000u);
  EXPECT_EQ(found.heat.keys_per_column, (found.uses.size() + 71) / 72);
  double all = 0;
  for (const auto& row : found.heat.cells) {
    for (const double uses : row) {
      all += uses * static_cast<double>(found.heat.keys_per_column);
    }
  }
  EXPECT_NEAR(all, 240'000, 1);
  const std::string text = to_text(found, "shift");
  EXPECT_TRUE(text.starts_with("shift: 240000 requests, format hotspot-shift, 24.0 s\n")) << text;
  EXPECT_TRUE(text.contains("from all keys"));
  EXPECT_TRUE(text.contains("        0 |"));
  const std::string svg = to_svg(found, "a<b&c");
  EXPECT_TRUE(svg.contains("a&lt;b&amp;c: 240000 requests"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  const auto object = to_json(found, "shift");
  EXPECT_EQ(object["requests"], 240'000);
  EXPECT_EQ(object["heat"]["cells"].size(), heat_map::kRows);
  EXPECT_EQ(object["one_key_in"], 1);
}

TEST(Analyze, ReportsMalformedLinesAndMissingFacts) {
  const auto opened =
      open_stream(std::make_unique<std::istringstream>("key\nk\n\nj\n"), "t", {.format = "csv"});
  const figures found = analyze(**opened, {}).value();
  const std::string text = to_text(found, "t");
  EXPECT_TRUE(text.contains("the trace tells no sizes of values")) << text;
  EXPECT_TRUE(to_json(found, "t")["seconds"].is_null());
  const figures bad = of("key,value_size\nk,1\nk\n");
  EXPECT_TRUE(to_text(bad, "t").contains("1 malformed line; line 3: it has 1 fields, not 2"));
  EXPECT_EQ(to_json(bad, "t")["malformed"]["first"][0]["line"], 3);
}

}  // namespace
}  // namespace isotherm::traces
