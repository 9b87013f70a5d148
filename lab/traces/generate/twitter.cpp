// Twitter's clusters 7 and 23 from their statistics of March 2020 (twitter/cache-trace,
// stat/2020Mar.md; Yang, Yue, Rashmi, "A large scale analysis of hundreds of in-memory cache
// clusters at Twitter", OSDI 2020). Generated, not recorded: the statistics tell means and shares,
// so that bursts, the spread of sizes and all that changes with time are not in it.
//
// Operations, sizes (all values of a cluster have its mean), times to live and the rate are drawn
// as published; keys by Zipf's law with the published alpha over as many keys as the mean frequency
// makes of the requests. Counters are keys of their own: a value that is set is no number.
#include <algorithm>
#include <utility>
#include <vector>

#include "lab/traces/generate/descriptors.hpp"
#include "lab/traces/generate/discrete.hpp"
#include "lab/workload/generators.hpp"

namespace isotherm::traces {
namespace {

/// A row of the published table.
struct cluster {
  std::string_view name;
  std::uint32_t key_size, value_size;  ///< bytes, means
  double rate;                         ///< requests a second
  double mean_frequency;               ///< requests a key
  double alpha;
  std::vector<std::pair<operation, double>> operations;  ///< and their shares
  std::vector<std::pair<std::uint32_t, double>> ttls_s;  ///< and their shares
};

const cluster kCluster7 = {
    .name = "twitter-7",
    .key_size = 17,
    .value_size = 1936,
    .rate = 1620,
    .mean_frequency = 72.9,
    .alpha = 1.0666,
    .operations = {{operation::get, 0.82}, {operation::set, 0.18}},
    .ttls_s = {{6480, 0.28}, {6120, 0.24}, {6840, 0.23}, {5760, 0.13}, {7200, 0.12}}};

const cluster kCluster23 = {.name = "twitter-23",
                            .key_size = 35,
                            .value_size = 224,
                            .rate = 8690,
                            .mean_frequency = 3.9,
                            .alpha = 0.274,
                            .operations = {{operation::set, 0.31},
                                           {operation::get, 0.36},
                                           {operation::incr, 0.30},
                                           {operation::remove, 0.02}},
                            .ttls_s = {{120, 0.93}, {2700, 0.05}, {5, 0.03}}};

template <class Thing>
std::vector<double> weights_of(const std::vector<std::pair<Thing, double>>& of) {
  std::vector<double> weights;
  weights.reserve(of.size());
  for (const auto& each : of) weights.push_back(each.second);
  return weights;
}

class cluster_source final : public generated_source {
 public:
  cluster_source(const cluster& of, const generate_options& asked)
      : generated_source(of.name, asked, of.rate),
        of_(of),
        kinds_(weights_of(of.operations)),
        ttls_(weights_of(of.ttls_s)) {
    const double wanted = asked.keys ? static_cast<double>(*asked.keys)
                                     : static_cast<double>(asked.requests) / of.mean_frequency;
    double counted = 0;
    double all = 0;
    for (const auto& [kind, share] : of.operations) {
      counted += kind == operation::incr ? share : 0;
      all += share;
    }
    const auto keys = [&](double share) {
      return std::max<std::uint64_t>(static_cast<std::uint64_t>(wanted * share), 1);
    };
    counters_ = workload::zipfian(keys(counted / all), of.alpha);
    values_ = workload::zipfian(keys(1 - counted / all), of.alpha);
  }

 private:
  void draw(request& to) override {
    to.kind = of_.operations[kinds_(random_)].first;
    const bool is_counter = to.kind == operation::incr;
    to.key = scattered(is_counter ? "c" : "v", (is_counter ? counters_ : values_)(random_));
    to.key_size = of_.key_size;
    to.value_size = is_counter ? 0 : of_.value_size;
    if (to.kind == operation::set || is_counter) to.ttl_s = of_.ttls_s[ttls_(random_)].first;
  }

  const cluster& of_;
  discrete kinds_, ttls_;
  workload::zipfian counters_{1, 1}, values_{1, 1};
};

base::result<std::unique_ptr<source>> make_7(const generate_options& asked) {
  return std::make_unique<cluster_source>(kCluster7, asked);
}
base::result<std::unique_ptr<source>> make_23(const generate_options& asked) {
  return std::make_unique<cluster_source>(kCluster23, asked);
}

}  // namespace

const generator kTwitter7 = {
    .name = "twitter-7",
    .about = "from the published statistics of Twitter's cluster 7: 82% get, 18% set, Zipf 1.07",
    .make = make_7};
const generator kTwitter23 = {
    .name = "twitter-23",
    .about = "the same of cluster 23: 36% get, 31% set, 30% incr, 2% delete, Zipf 0.27",
    .make = make_23};

}  // namespace isotherm::traces
