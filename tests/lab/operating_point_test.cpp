#include "lab/bench/operating_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/page.hpp"
#include "base/random.hpp"

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kKeys = 2000;

/// Records of 1 KiB, of which a page holds four.
bench_plan plan_of(const workload::key_choice& choice) {
  bench_plan plan{.asked = {}, .load = {}, .format = {.key_size = 24, .value_size = 1000}};
  plan.load.keys = kKeys;
  plan.load.keys_by = choice;
  plan.load.workload = {.letter = 'c', .shares = {.read = 100}};
  return plan;
}

operating_point point_of(const bench_plan& plan, double requests) {
  const auto found = find_operating_point(plan, requests);
  EXPECT_TRUE(found.has_value());
  return found.value_or(operating_point{});
}

TEST(OperatingPoint, OfUniformKeysIsTheClosedForm) {
  const bench_plan plan = plan_of({.which = workload::distribution::uniform});
  for (const double requests : {1.0, 500.0, 2000.0, 20'000.0}) {
    const operating_point found = point_of(plan, requests);
    const double used = 1 - std::pow(1 - 1.0 / kKeys, requests);
    EXPECT_NEAR(found.used_share, used, 1e-9);
    EXPECT_NEAR(found.best_utilization, used / (1 - std::pow(1 - used, 4)), 1e-9);
    EXPECT_DOUBLE_EQ(found.requests_per_record, requests / kKeys);
  }
}

TEST(OperatingPoint, OfNoRequestsIsNothing) {
  const operating_point found = point_of(plan_of({}), 0);
  EXPECT_EQ(found.used_share, 0);
  EXPECT_EQ(found.best_utilization, 0);
}

TEST(OperatingPoint, OfAHotspotThatTakesAllIsFullPages) {
  const bench_plan plan = plan_of(
      {.which = workload::distribution::hotspot, .hotspot_keys = 0.1, .hotspot_accesses = 1});
  const operating_point found = point_of(plan, 100'000);
  EXPECT_NEAR(found.used_share, 0.1, 1e-6);
  EXPECT_NEAR(found.best_utilization, 1, 1e-6);
}

TEST(OperatingPoint, OfOneRecordThatTakesAll) {
  bench_plan plan = plan_of({.which = workload::distribution::uniform});
  plan.load.keys = 1;
  const operating_point found = point_of(plan, 5);
  EXPECT_EQ(found.used_share, 1);
  EXPECT_DOUBLE_EQ(found.best_utilization, 0.25);
}

TEST(OperatingPoint, OfRecordsThatAreLargerThanPagesIsFullPages) {
  bench_plan plan = plan_of({});
  plan.format.value_size = 10'000;
  EXPECT_EQ(point_of(plan, 500).best_utilization, 1);
}

TEST(OperatingPoint, OfSequentialKeysIsTheirRuns) {
  bench_plan plan = plan_of({.which = workload::distribution::sequential});
  plan.load.threads = 1;
  EXPECT_DOUBLE_EQ(point_of(plan, 500).used_share, 0.25);
  EXPECT_EQ(point_of(plan, 500).best_utilization, 1);
  plan.load.threads = 2;  // runs of an eighth that may overlap
  EXPECT_DOUBLE_EQ(point_of(plan, 500).used_share, 1 - 0.875 * 0.875);
  EXPECT_DOUBLE_EQ(point_of(plan, 1e6).used_share, 1);
}

TEST(OperatingPoint, CountsTenUsesOfAMultiget) {
  bench_plan plan = plan_of({});
  const double used = point_of(plan, 1900).used_share;
  plan.load.workload.shares = {.read = 90, .multiget = 10};
  EXPECT_DOUBLE_EQ(point_of(plan, 1000).used_share, used);
}

TEST(OperatingPoint, IsNotToldWhereRecordsComeAndGoOrDifferInSize) {
  bench_plan plan = plan_of({});
  for (const workload::mix& shares :
       {workload::mix{.read = 95, .insert = 5}, workload::mix{.read = 95, .remove = 5},
        workload::mix{.read = 95, .scan = 5}}) {
    plan.load.workload.shares = shares;
    EXPECT_FALSE(find_operating_point(plan, 1).has_value());
  }
  plan.load.workload.shares = {.read = 100};
  plan.format.sizes = workload::value_sizes::uniform;
  EXPECT_FALSE(find_operating_point(plan, 1).has_value());
}

TEST(OperatingPoint, IsAnnouncedAtTheAskedRate) {
  bench_plan plan = plan_of({.which = workload::distribution::uniform});
  plan.asked.collector.window_seconds = 10;
  EXPECT_NE(announcement(plan).find("measured rate"), std::string::npos);
  plan.load.rate = 200;  // one request a record and window
  EXPECT_NE(announcement(plan).find("1 requests a record and window of 10 s; expected: 63.2% of"),
            std::string::npos)
      << announcement(plan);
  plan.load.workload.shares = {.read = 95, .insert = 5};
  EXPECT_NE(announcement(plan).find("not computed: the workload inserts"), std::string::npos);
}

/// Draws windows, and counts what an order of the records uses of the pages that it touches.
struct drawn_windows {
  double used_share = 0, utilization = 0;
};
drawn_windows draw(const bench_plan& plan, const std::vector<std::uint64_t>& position, int requests,
                   std::uint64_t seed) {
  constexpr int kWindows = 400;
  const workload::key_chooser chooser(plan.load.keys_by, kKeys);
  const std::uint64_t bytes = plan.format.object_bytes();
  base::random random(seed);
  std::uint64_t used = 0, touched = 0;
  for (int window = 0; window < kWindows; ++window) {
    std::set<std::uint64_t> keys, pages;
    for (int i = 0; i < requests; ++i) keys.insert(chooser(random));
    for (const std::uint64_t key : keys) {
      base::for_each_page(position[key] * bytes, bytes,
                          [&](std::uintptr_t page, std::size_t) { pages.insert(page); });
    }
    used += keys.size();
    touched += pages.size();
  }
  return {.used_share = static_cast<double>(used) / kKeys / kWindows,
          .utilization = base::page_utilization(used * bytes, touched)};
}

/// Returns each key's place in the order of popularity, as counted in many draws.
std::vector<std::uint64_t> by_popularity(const workload::key_choice& choice, std::uint64_t seed) {
  const workload::key_chooser chooser(choice, kKeys);
  base::random random(seed);
  std::vector<std::uint64_t> counts(kKeys), order(kKeys), position(kKeys);
  for (int i = 0; i < 4'000'000; ++i) ++counts[chooser(random)];
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](auto a, auto b) { return counts[a] > counts[b]; });
  for (std::uint64_t place = 0; place < kKeys; ++place) position[order[place]] = place;
  return position;
}

/// The order by popularity has the utilization that is said to be the best, others have less.
TEST(OperatingPoint, AgreesWithDrawnWindows) {
  constexpr std::uint64_t kSeed = 42;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const workload::key_choice& choice :
       {workload::key_choice{},
        {.which = workload::distribution::permuted},
        {.which = workload::distribution::permuted, .theta = 1.2},
        {.which = workload::distribution::exponential},
        {.which = workload::distribution::hotspot}}) {
    SCOPED_TRACE(name_of(choice.which));
    const bench_plan plan = plan_of(choice);
    const auto best = by_popularity(choice, kSeed);
    std::vector<std::uint64_t> other(kKeys);
    std::iota(other.begin(), other.end(), 0);
    for (const int requests : {300, 2000}) {
      const operating_point found = point_of(plan, requests);
      const drawn_windows drawn = draw(plan, best, requests, kSeed + 1);
      EXPECT_NEAR(found.used_share / drawn.used_share, 1, 0.01);
      EXPECT_NEAR(found.best_utilization / drawn.utilization, 1, 0.015);
    }
    base::random random(kSeed);
    std::ranges::shuffle(other, random);
    EXPECT_LT(draw(plan, other, 300, kSeed).utilization, point_of(plan, 300).best_utilization);
  }
}

/// Records that do not fill pages lie on two of them, which the bound leaves out.
TEST(OperatingPoint, IsABoundOfRecordsOnTwoPages) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  bench_plan plan = plan_of({.which = workload::distribution::permuted});
  plan.format = {.key_size = 30, .value_size = 1024};
  const auto best = by_popularity(plan.load.keys_by, kSeed);
  const double reached = draw(plan, best, 1000, kSeed).utilization;
  const double bound = point_of(plan, 1000).best_utilization;
  EXPECT_LT(reached, bound);
  EXPECT_GT(reached, 0.8 * bound);
}

}  // namespace
}  // namespace isotherm::lab
