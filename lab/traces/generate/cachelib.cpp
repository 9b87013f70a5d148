// CacheLib's distributions (Berg et al., "The CacheLib caching engine: design and experiences at
// scale", OSDI 2020): the folders of cachelib/cachebench/test_configs, each with config.json,
// pop.json and sizes.json.
//
// pop.json holds buckets of keys, and the requests that went to each: a bucket is drawn by its
// requests, a key of it evenly. Keys that were used once are drawn anew each time (the "lone"
// operations). sizes.json holds sizes of values and how many keys have each: a key keeps its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "lab/traces/generate/descriptors.hpp"
#include "lab/traces/generate/discrete.hpp"

namespace isotherm::traces {
namespace {

using nlohmann::json;

/// One of the operations: its name in config.json, and whether its keys are used once.
struct ratio {
  const char* name;
  operation kind;
  bool is_lone;
};
constexpr ratio kRatios[] = {{"getRatio", operation::get, false},
                             {"setRatio", operation::set, false},
                             {"delRatio", operation::remove, false},
                             {"loneGetRatio", operation::get, true},
                             {"loneSetRatio", operation::set, true}};

// Greater numbers in a file count as these.
constexpr double kMostKeys = 1e12, kLongestKey = 1 << 16, kGreatestValue = 5e8;

base::result<json> read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return std::unexpected(base::error{fmt::format(
        "cannot read {}: --distributions names a folder of CacheLib's test_configs", path)});
  }
  auto found = json::parse(file, nullptr, false);
  if (!found.is_object()) return std::unexpected(base::error{path + " holds no JSON object"});
  return found;
}

/// The list of finite numbers, not negative, of which one is not 0; nullopt: there is none.
std::optional<std::vector<double>> numbers_of(const json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_array()) return std::nullopt;
  std::vector<double> found;
  double sum = 0;
  for (const json& each : *at) {
    if (!each.is_number() || !(each.get<double>() >= 0)) return std::nullopt;
    found.push_back(each.get<double>());
    sum += found.back();
  }
  return sum > 0 && std::isfinite(sum) ? std::optional(found) : std::nullopt;
}

/// The contents of the three files.
struct distributions {
  std::vector<double> operations;  ///< weights, in the order of kRatios
  std::vector<double> bucket_keys, bucket_requests;
  std::vector<double> sizes, size_keys;
  double least_key = 0, most_key = 0;  ///< bytes
};

base::result<distributions> read(const std::string& folder) {
  const auto config = read_json(folder + "/config.json");
  if (!config) return std::unexpected(config.error());
  const auto popularity = read_json(folder + "/pop.json");
  if (!popularity) return std::unexpected(popularity.error());
  const auto sizes = read_json(folder + "/sizes.json");
  if (!sizes) return std::unexpected(sizes.error());
  json test = config->value("test_config", json::object());
  if (test.contains("poolDistributions") && !test["poolDistributions"].empty()) {
    test = test["poolDistributions"].front();
  }
  distributions made;
  for (const ratio& each : kRatios) {
    const auto at = test.find(each.name);
    made.operations.push_back(at != test.end() && at->is_number() ? std::max(at->get<double>(), 0.0)
                                                                  : 0);
  }
  const auto keys = numbers_of(*popularity, "popularityBuckets");
  const auto requests = numbers_of(*popularity, "popularityWeights");
  const auto values = numbers_of(*sizes, "valSizeRange");
  const auto shares = numbers_of(*sizes, "valSizeRangeProbability");
  const auto key_sizes = numbers_of(test, "keySizeRange");
  if (!keys || !requests || keys->size() != requests->size() || !values || !shares ||
      values->size() != shares->size() || !key_sizes ||
      std::ranges::all_of(made.operations, [](double share) { return share == 0; })) {
    return std::unexpected(base::error{
        folder + ": its config.json, pop.json and sizes.json are not a distribution of CacheLib"});
  }
  made.bucket_keys = *keys;
  made.bucket_requests = *requests;
  made.sizes = *values;
  made.size_keys = *shares;
  made.least_key = std::min(key_sizes->front(), kLongestKey);
  made.most_key = std::min(key_sizes->back(), kLongestKey);
  return made;
}

class cachelib final : public generated_source {
 public:
  cachelib(const distributions& of, const generate_options& asked)
      : generated_source(kCacheLib.name, asked, 10'000),
        kinds_(of.operations),
        buckets_(of.bucket_requests),
        value_sizes_(of.size_keys),
        sizes_(of.sizes),
        least_key_(of.least_key),
        most_key_(of.most_key) {
    std::uint64_t keys = 0;
    for (const double count : of.bucket_keys) {
      first_keys_.push_back(keys);
      keys += std::max<std::uint64_t>(static_cast<std::uint64_t>(std::min(count, kMostKeys)), 1);
    }
    first_keys_.push_back(keys);
  }

 private:
  void draw(request& to) override {
    const ratio& drawn = kRatios[kinds_(random_)];
    std::uint64_t number = lone_++;
    if (!drawn.is_lone) {
      --lone_;
      const std::size_t bucket = buckets_(random_);
      number = first_keys_[bucket] + random_.below(first_keys_[bucket + 1] - first_keys_[bucket]);
    }
    to.kind = drawn.kind;
    to.key = scattered(drawn.is_lone ? "l" : "k", number);
    base::random own(2 * number + (drawn.is_lone ? 1 : 0));
    to.key_size = static_cast<std::uint32_t>(least_key_ + own.unit() * (most_key_ - least_key_));
    to.value_size = static_cast<std::uint32_t>(std::min(sizes_[value_sizes_(own)], kGreatestValue));
  }

  discrete kinds_, buckets_, value_sizes_;
  std::vector<double> sizes_;
  double least_key_, most_key_;
  std::vector<std::uint64_t> first_keys_;  ///< of each bucket, and the number of all keys
  std::uint64_t lone_ = 0;                 ///< keys used once so far
};

base::result<std::unique_ptr<source>> make(const generate_options& asked) {
  if (asked.keys) {
    return std::unexpected(base::error{"--keys: CacheLib's distributions tell the number of keys"});
  }
  if (asked.distributions.empty()) {
    return std::unexpected(base::error{
        "cachelib needs --distributions, a folder of cachelib/cachebench/test_configs with "
        "config.json, pop.json and sizes.json"});
  }
  const auto found = read(asked.distributions);
  if (!found) return std::unexpected(found.error());
  return std::make_unique<cachelib>(*found, asked);
}

}  // namespace

const generator kCacheLib = {
    .name = "cachelib",
    .about = "a distribution of CacheLib's cachebench: the folder that --distributions names",
    .make = make};

}  // namespace isotherm::traces
