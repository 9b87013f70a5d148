#include "device/model.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "device/profile.hpp"

namespace isotherm::device {
namespace {

TEST(Model, PresetsAndScales) {
  for (const char* name : {"pmem", "bd", "brd", "bard", "cxl-dram", "cmm-h"}) {
    auto whole = preset(name);
    auto eighth = preset(std::string("emu:") + name + "@1/8");
    ASSERT_TRUE(whole && eighth) << name;
    EXPECT_EQ(eighth->name, std::string("emu:") + name + "@1/8");
    for (const access a : {access::sequential_read, access::random_read, access::write}) {
      EXPECT_NEAR(eighth->bandwidth(a, 4, 256) * 8, whole->bandwidth(a, 4, 256), 1) << name;
    }
  }
  for (const char* bad :
       {"tape", "pmem@", "pmem@0", "pmem@-1", "pmem@1/0", "pmem@x", "pmem,", "pmem,writers",
        "pmem,writers=", "pmem,writers=x", "pmem,others=1", "pmem,writers=1@1/8"}) {
    EXPECT_FALSE(preset(bad)) << bad;
  }
}

TEST(Model, CurvesAreLinearBetweenPoints) {
  const curve c{{1, 10}, {4, 40}, {8, 20}};
  EXPECT_DOUBLE_EQ(at(c, 1), 10);
  EXPECT_DOUBLE_EQ(at(c, 2), 20);
  EXPECT_DOUBLE_EQ(at(c, 6), 30);
  EXPECT_DOUBLE_EQ(at(c, 99), 20);
  EXPECT_EQ(best_streams(c), 4u);
}

TEST(Model, PropertiesShowInTheBandwidth) {
  const auto pmem = preset("pmem").value();
  EXPECT_LT(pmem.bandwidth(access::random_read, 16, 64),
            pmem.bandwidth(access::random_read, 16, 256));
  EXPECT_LT(pmem.bandwidth(access::sequential_read, 16, 256, 4),
            pmem.bandwidth(access::sequential_read, 16, 256));
  EXPECT_LT(pmem.bandwidth(access::write, 16, 256), pmem.bandwidth(access::write, 5, 256));
  const auto bd = preset("bd").value();
  EXPECT_LT(bd.bandwidth(access::random_read, 4, 64), bd.bandwidth(access::sequential_read, 4, 64));
}

// Geometry: 100-byte records start at multiples of 4 in granules of 256 B, so each touches 1.375.
TEST(Model, ChargesTheGranulesThatAnAccessTouches) {
  const auto pmem = preset("pmem").value();
  const double whole = pmem.bandwidth(access::random_read, 16, 256);
  EXPECT_NEAR(pmem.bandwidth(access::random_read, 16, 64), whole / 4, 1);
  EXPECT_NEAR(pmem.bandwidth(access::random_read, 16, 128), whole / 2, 1);
  EXPECT_NEAR(pmem.bandwidth(access::random_read, 16, 4096), whole, 1);
  EXPECT_NEAR(pmem.bandwidth(access::random_read, 16, 100), whole * 100 / (1.375 * 256), 1);
}

TEST(Model, StridedReadsShareGranulesAndNeverCostMoreThanTheirSpan) {
  for (const char* name : {"pmem", "brd", "cxl-dram"}) {
    const auto m = preset(name).value();
    const double span = m.bandwidth(access::sequential_read, 16, 1 << 20);
    for (const std::uint64_t stride : {15, 20, 60, 100, 128, 256, 260, 300, 512, 4096}) {
      const double records = m.bandwidth(access::strided_read, 16, 10, 0, stride) / 10;
      EXPECT_GE(records * static_cast<double>(stride), 0.999 * span) << name << ' ' << stride;
    }
  }
  // Below the granule all bytes move; far beyond it one granule a key.
  const auto pmem = preset("pmem").value();
  const double span = pmem.bandwidth(access::sequential_read, 16, 1 << 20);
  EXPECT_NEAR(pmem.bandwidth(access::strided_read, 16, 10, 0, 100), span / 10, 1);
  EXPECT_NEAR(pmem.bandwidth(access::strided_read, 16, 10, 0, 4096),
              pmem.bandwidth(access::random_read, 16, 256) * 10 / 256, 1);
  // Gaps between keys cost the latency of random reads, on a device that has one.
  const auto bd = preset("bd").value();
  EXPECT_LT(bd.bandwidth(access::strided_read, 4, 10, 0, 100),
            preset("brd")->bandwidth(access::strided_read, 4, 10, 0, 100) / 4);
}

TEST(Model, OthersTakeTheirShare) {
  const auto alone = preset("pmem@1/8").value();
  const auto readers = preset("emu:pmem@1/8,readers=16").value();
  const auto both = preset("pmem@1/8,readers=2,writers=4").value();
  EXPECT_EQ(both.other_readers, 2u);
  EXPECT_EQ(both.other_writers, 4u);
  EXPECT_EQ(readers.name, "emu:pmem@1/8,readers=16");
  // Reads peak with 16 threads: as many others take half.
  EXPECT_NEAR(readers.bandwidth(access::random_read, 16, 256) * 2,
              alone.bandwidth(access::random_read, 16, 256), 1);
  EXPECT_DOUBLE_EQ(readers.bandwidth(access::write, 5, 256),
                   alone.bandwidth(access::write, 5, 256));
  EXPECT_LT(both.bandwidth(access::write, 5, 256), alone.bandwidth(access::write, 5, 256) * 5 / 9);
  EXPECT_LT(both.bandwidth(access::sequential_read, 16, 256),
            alone.bandwidth(access::sequential_read, 16, 256, 4));
}

TEST(Profile, RoundTripsThroughJson) {
  profile p{.path = "/x",
            .device = "emu:pmem",
            .sequential_read = {{1, 2e9}, {4, 8e9}},
            .random_read = {{64, {{1, 5e8}, {4, 2e9}}},
                            {256, {{1, 1.6e9}, {4, 6.6e9}}},
                            {4096, {{1, 2e9}, {4, 7e9}}}},
            .strided_read = {10, {{1, 1e8}}},
            .write = {{1, 1e9}, {4, 2e9}, {16, 1e9}},
            .interference = {{0, 8e9, 0}, {4, 2e9, 1e9}},
            .sequential_read_sizes = {{4096, {{1, 1e9}, {4, 3e9}}}},
            .mapped_read_sizes = {{64, {{1, 2e9}, {4, 5e9}}}},
            .direct = {"O_DIRECT",
                       {{4096, {{1, 1e8}}}},
                       {{4096, {{1, 2e7}}}},
                       {{1, 3e8}},
                       {{0, 1e8, 0}, {1, 5e7, 1e8}}},
            .letters = {.sequential = {1e8, 1.1e8},
                        .random = {2e7, 2e7},
                        .random_small = {},
                        .random_page = {},
                        .write = {3e8, 3e8},
                        .write_most = {3e8, 2e8},
                        .read_alone = {1e8, 1e8},
                        .read_beside = {5e7, 5e7}}};
  auto back = parse_profile(to_json(p));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(p));
  // A plan by it emulates nothing, and reports must not say so.
  EXPECT_EQ(as_model(*back).name, "profile of an emulated device, emu:pmem");
  EXPECT_EQ(braid(*back).size(), 5u);
  auto older = nlohmann::json::parse(to_json(p));
  older["isotherm_profile"] = 2;
  EXPECT_FALSE(parse_profile(older.dump()));
  EXPECT_FALSE(parse_profile("{}"));
  EXPECT_FALSE(parse_profile("not json"));
  EXPECT_FALSE(load_profile("/nonexistent"));
}

TEST(Profile, CurvesThatNoDeviceHasAreRefused) {
  const curve good = {{1, 1e9}, {4, 2e9}};
  profile p{.path = "/x",
            .device = "measured",
            .sequential_read = good,
            .random_read = {{256, good}},
            .strided_read = {10, good},
            .write = good,
            .interference = {},
            .sequential_read_sizes = {},
            .mapped_read_sizes = {},
            .direct = {"O_DIRECT", {}, {}, {}, {}},
            .letters = {}};
  ASSERT_TRUE(parse_profile(to_json(p)));
  const double infinite = std::numeric_limits<double>::infinity();
  for (const curve& bad : {curve{{0, 1e9}}, curve{{4, 1e9}, {1, 1e9}}, curve{{4, 1e9}, {4, 1e9}},
                           curve{{1, 0}}, curve{{1, -1e9}}, curve{{1, infinite}}, curve{}}) {
    p.random_read[0].bandwidth = bad;
    EXPECT_FALSE(parse_profile(to_json(p)));
  }
  p.random_read[0].bandwidth = good;
  for (const double bad : {0.0, -1e9, infinite}) {
    p.letters.write = {1e9, bad};
    EXPECT_FALSE(parse_profile(to_json(p)));
  }
}

/// A profile that measured nothing but random reads.
profile of_random_reads(std::vector<sized_curve> random_read) {
  profile p;
  p.random_read = std::move(random_read);
  return p;
}

TEST(Profile, SmallReadsBelowHalfTheBandwidthMakeTheModelsGranule256Bytes) {
  const model slow_when_small =
      as_model(of_random_reads({{64, {{1, 5e8}, {4, 2e9}}}, {256, {{1, 1.6e9}, {4, 4.1e9}}}}));
  EXPECT_EQ(slow_when_small.granule_bytes, 256u);
  EXPECT_NEAR(slow_when_small.bandwidth(access::random_read, 4, 64), 4.1e9 / 4, 1);
  const model half_when_small =
      as_model(of_random_reads({{64, {{1, 5e8}, {4, 2e9}}}, {256, {{1, 1.6e9}, {4, 4e9}}}}));
  EXPECT_EQ(half_when_small.granule_bytes, 64u) << "half the bandwidth is no fourfold transfer";
  EXPECT_NEAR(half_when_small.bandwidth(access::random_read, 4, 64), 4e9, 1);
}

// Smaller reads may move parts of granules, and larger ones are partly sequential.
TEST(Profile, TheModelReadsAtRandomAsTheSmallestMeasuredReadsFrom256BytesOn) {
  const curve of_64 = {{1, 1e9}}, of_256 = {{1, 2e9}}, of_512 = {{1, 3e9}}, of_4096 = {{1, 5e9}};
  const auto random_read = [](std::vector<sized_curve> measured) {
    return at(as_model(of_random_reads(std::move(measured))).random_read, 1);
  };
  EXPECT_EQ(random_read({{64, of_64}, {256, of_256}, {4096, of_4096}}), 2e9);
  EXPECT_EQ(random_read({{64, of_64}, {512, of_512}, {4096, of_4096}}), 3e9);
  EXPECT_EQ(random_read({{64, of_64}}), 1e9) << "the largest there are";
}

}  // namespace
}  // namespace isotherm::device
