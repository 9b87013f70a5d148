#include "lab/backends/options.hpp"

#include <gtest/gtest.h>

namespace isotherm::lab {
namespace {

backends_options small() {
  backends_options asked = default_backends_options();
  asked.store.keys = 1000;
  return asked;
}

TEST(BackendsOptions, MakeARunOfEachStoreBackendAndSide) {
  backends_options asked = small();
  asked.backends = {"none", "cgroup"};
  const auto runs = understand(asked, 7);
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 8U);
  const backends_run& second = (*runs)[1];
  EXPECT_EQ(second.kind->name, "none");
  EXPECT_EQ(second.stores, "masstree:c");
  EXPECT_EQ(second.manage, "on");
  EXPECT_EQ(second.plans.front().load.seed, 7U);
  EXPECT_EQ(second.plans.front().load.warmup_seconds, asked.settle + asked.adapt);
}

TEST(BackendsOptions, BudgetIsAShareOfTheRecordsOfAllStores) {
  backends_options asked = small();
  asked.stores = {"art:a+hash-chm:c+masstree:b"};
  asked.memory = 50;
  const auto runs = understand(asked, 1);
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->front().plans.size(), 3U);
  EXPECT_EQ(runs->front().record_bytes, 3 * 1000U * (30 + 1024));
  EXPECT_EQ(runs->front().chosen.budget_bytes, runs->front().record_bytes / 2);
}

TEST(BackendsOptions, ColdIsAFileForTheLogAlone) {
  backends_options asked = small();
  asked.backends = {"hinted", "log"};
  asked.folder = "/somewhere";
  const auto runs = understand(asked, 1);
  ASSERT_TRUE(runs);
  EXPECT_EQ((*runs)[0].plans.front().asked.cold_backing, "anon");
  EXPECT_EQ((*runs)[2].plans.front().asked.cold_backing, "file:/somewhere");
}

TEST(BackendsOptions, MistakesNameTheFlag) {
  const auto refused = [](auto change) {
    backends_options asked = small();
    change(asked);
    const auto runs = understand(asked, 1);
    return runs ? std::string() : runs.error().message;
  };
  EXPECT_NE(refused([](auto& o) { o.backends = {"magic"}; }).find("none, kswapd, cgroup"),
            std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.stores = {"masstree"}; }).find("--store"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.stores = {"tree:c"}; }).find("tree"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.stores = {"hash-pugh:e"}; }).find("ordered"),
            std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.manage = {"track"}; }).find("--manage"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.memory = 0; }).find("--memory"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.pressure = 0; }).find("--pressure"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.settle = -1; }).find("--settle"), std::string::npos);
}

TEST(Backends, AreFoundByTheirNames) {
  for (const backend_kind* const each : backend_kinds()) {
    const auto found = find_backend(each->name);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, each);
    EXPECT_NE(each->make, nullptr);
    EXPECT_FALSE(each->help.empty());
  }
}

}  // namespace
}  // namespace isotherm::lab
