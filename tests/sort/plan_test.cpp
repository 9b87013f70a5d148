// How memory and threads are shared out, and what --explain says of it.
#include "sort/algorithms/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "device/model.hpp"
#include "os/limits/processors.hpp"
#include "sort/planned.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Plan, IndexMapsAreNoLargerThanTheirInputs) {
  sort_options o{.memory_bytes = 512 * kMiB};
  EXPECT_EQ(planned(o, o.algorithm, 100 * 1000, nullptr)->index_entries, 1001u);
  EXPECT_EQ(planned(o, o.algorithm, 0, nullptr)->index_entries, 1u);
  o.format = record_format::klv;
  EXPECT_EQ(planned(o, o.algorithm, 140, nullptr)->index_entries, 11u);
  o.format = record_format::lines;
  EXPECT_EQ(planned(o, o.algorithm, 140, nullptr)->index_entries, 141u);
  const std::uint64_t large = std::uint64_t{1} << 40;
  EXPECT_LT(planned(o, o.algorithm, large, nullptr)->index_entries, 512 * kMiB / 16);
}

// Taskset or a container may allow fewer processors than there are: so many threads work.
TEST(Plan, ThreadsAreAsManyAsTheProcessorsThatTheProcessMayUse) {
  EXPECT_EQ(facts_of({}, nullptr).processors, os::available_processors());
  const auto p = planned({.memory_bytes = 512 * kMiB}, sort_algorithm::automatic, kMiB, nullptr);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->sort_threads, os::available_processors());
  EXPECT_EQ(p->read_threads, os::available_processors());
}

// Each thread holds a few records at the least.
TEST(Plan, ThreadsThatTheUserDoesNotNameAreLoweredUntilTheyFit) {
  auto device = device::preset("emu:pmem").value();
  device.random_read = {{1, 1e8}, {1000, 1e11}};
  sort_options o{.record_bytes = kMiB, .memory_bytes = 32 * kMiB};
  auto p = planned(o, sort_algorithm::onepass, 100 * kMiB, &device);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_GE(p->random_threads, 1u);
  EXPECT_LE(p->random_threads, 10u);
  o.record_bytes = 100;
  p = planned(o, sort_algorithm::onepass, 100 * kMiB, &device);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_GT(p->random_threads, 10u);
  EXPECT_LT(p->random_threads, 64u);
  o.read_threads = 1000;
  p = planned(o, sort_algorithm::onepass, 100 * kMiB, &device);
  ASSERT_FALSE(p);
  EXPECT_THAT(p.error().message, AllOf(HasSubstr("1000 threads"), HasSubstr("--read-threads"),
                                       HasSubstr("--write-threads"), HasSubstr("--sort-threads")));
}

TEST(Plan, CallsReadSmallRecordsWholeAndMappingsAndEmulatedDevicesDoNot) {
  sort_options o{.memory_bytes = 32 * kMiB};
  const auto whole = [&](std::uint64_t memory, const char* device, std::uint64_t record) {
    o.memory_bytes = memory;
    o.device = device;
    o.record_bytes = record;
    return planned(o, sort_algorithm::onepass, 8 * kMiB, nullptr)->sequential_load;
  };
  EXPECT_TRUE(whole(32 * kMiB, "", 100));
  EXPECT_FALSE(whole(32 * kMiB, "", 4096));
  EXPECT_FALSE(whole(32 * kMiB, "emu:pmem", 100));
  EXPECT_FALSE(whole(256 * kMiB, "", 100));
}

TEST(Registry, EachAlgorithmHasARowAndANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const sort_algorithm a : sort_algorithms()) {
    EXPECT_EQ(find(a).id, a);
    EXPECT_TRUE(names.insert(name(a)).second) << name(a);
  }
  EXPECT_TRUE(names.contains("auto"));
}

// Its output, which it sorts in place, is all that it writes.
TEST(Samplesort, NeedsNoTemporarySpace) {
  const sort_options o{.memory_bytes = 512 * kMiB};
  const auto p = planned(o, sort_algorithm::samplesort, 100 * kMiB, nullptr);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(find(p->algorithm).temporary_bytes(*p, o, 100 * kMiB, kMiB), 0u);
}

class Explain : public ::testing::Test {
 protected:
  void SetUp() override { testing::store(dir_.file("in"), std::string(200'000, 'x')); }
  base::result<std::vector<sort_prediction>> explain(sort_options o) {
    o.memory_bytes = 64 * kMiB;
    return explain_sort(dir_.file("in"), o);
  }
  static const sort_prediction& row(const std::vector<sort_prediction>& all, sort_algorithm a) {
    return *std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.algorithm == a; });
  }
  testing::scratch dir_;
};

TEST_F(Explain, RefusesWhatASortRefuses) {
  for (const char* device : {"", "emu:pmem"}) {
    auto r = explain({.record_bytes = 0, .device = device});
    ASSERT_FALSE(r);
    EXPECT_THAT(r.error().message, HasSubstr("a record must have at least one byte"));
  }
  auto r = explain({.record_bytes = 300, .device = "emu:pmem"});
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("no multiple"));
  r = explain({});
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("needs an emulated device"));
}

TEST_F(Explain, OffersNothingThatIsRefused) {
  for (const sort_options& o : {sort_options{.top = 3, .device = "emu:pmem"},
                                sort_options{.unique = true, .device = "emu:pmem"},
                                sort_options{.count = true, .device = "emu:pmem"}}) {
    auto all = explain(o);
    ASSERT_TRUE(all) << all.error().message;
    for (const auto& p : *all) {
      const bool index = p.algorithm == sort_algorithm::automatic ||
                         p.algorithm == sort_algorithm::onepass ||
                         p.algorithm == sort_algorithm::mergepass;
      EXPECT_EQ(p.obstacle.empty(), index) << name(p.algorithm);
    }
  }
  auto stable = explain({.stable = true, .device = "emu:pmem"});
  ASSERT_TRUE(stable);
  EXPECT_THAT(row(*stable, sort_algorithm::samplesort).obstacle, HasSubstr("--stable"));
  EXPECT_EQ(row(*stable, sort_algorithm::ems).obstacle, "");
}

// Auto is the cheapest of those that it may take, and is called by that name.
TEST_F(Explain, AutoIsWhatASortWouldTake) {
  using enum sort_algorithm;
  for (const char* device : {"emu:pmem@1/100", "emu:bd@1/100", "emu:brd@1/100"}) {
    auto all = explain({.record_bytes = 20, .device = device});
    ASSERT_TRUE(all) << all.error().message;
    const sort_prediction& chosen = row(*all, automatic);
    ASSERT_EQ(chosen.obstacle, "");
    ASSERT_NE(chosen.taken, automatic);
    for (const auto a : {ems, samplesort}) {
      if (!row(*all, a).obstacle.empty()) continue;
      EXPECT_LE(chosen.seconds, row(*all, a).seconds) << device;
      if (chosen.taken == a) {
        EXPECT_EQ(chosen.seconds, row(*all, a).seconds);
      }
    }
    for (const auto& p : *all) {
      if (p.algorithm != automatic) {
        EXPECT_EQ(p.taken, p.algorithm);
      }
    }
  }
}

}  // namespace
}  // namespace isotherm::sort
