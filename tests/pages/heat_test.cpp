// The heat map: of images with gaps, of more memory than it has rows, of more windows than columns.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pages/heat/map.hpp"

namespace isotherm::pages {
namespace {

constexpr std::uint64_t kPage = 4096;

mapping mapped(std::uint64_t begin, std::uint64_t end, const char* name) {
  mapping m;
  m.begin = begin;
  m.end = end;
  m.permissions = "rw-p";
  m.set_name(name);
  return m;
}

const memory_image kNothing;

resident_range held(std::uint64_t begin, std::uint64_t end) { return {{begin, end}, false}; }

heat_map map_of(const std::vector<heat_strip>& strips) {
  std::vector<const heat_strip*> pointers;
  for (const heat_strip& each : strips) pointers.push_back(&each);
  return make_heat_map(pointers);
}

TEST(HeatMap, SharesOfMappingsBySize) {
  const memory_image image{
      .mappings = {mapped(0x10000, 0x12000, "[heap]"), mapped(0x20000, 0x24000, "/lib")},
      .resident = {held(0x10000, 0x12000), held(0x20000, 0x23000)},
      .knows_resident = true};
  heat_strip_builder builder(image);
  builder.add_touched(0x10000, 1024, page_state::held);
  builder.add_touched(0x22000, 4096, page_state::held);
  builder.add_touched(0x23000, 2048, page_state::given_back);
  const heat_map map = map_of({builder.finish()});
  ASSERT_EQ(map.rows.size(), 6U);
  ASSERT_EQ(map.columns.size(), 1U);
  EXPECT_EQ(map.step, kPage);
  EXPECT_EQ(map.rows[0].label.name, "/lib");  // it holds more
  EXPECT_EQ(map.rows[4].label.kind, mapping_kind::heap);
  EXPECT_EQ(map.rows[5].begin, 0x11000U);
  const std::vector<std::optional<double>> shares{0., 0., 1., .5, .25, 0.};
  EXPECT_EQ(map.columns[0].shares, shares);
}

TEST(HeatMap, LargeMemoryHasWiderRowsAndKeepsItsSums) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 30, kBegin = std::uint64_t{3} << 40;
  const memory_image image{.mappings = {mapped(kBegin, kBegin + kBytes, "[anon:isotherm-hot]")},
                           .resident = {held(kBegin, kBegin + kBytes)},
                           .knows_resident = true};
  heat_strip_builder builder(image);
  for (std::uint64_t at = 0; at < kBytes; at += 2 * kPage) {
    builder.add_touched(kBegin + at, kPage / 2, page_state::held);
  }
  const heat_strip strip = builder.finish();
  EXPECT_LE(strip.cells.size(), 1024U);
  const heat_map map = map_of({strip});
  EXPECT_LE(map.rows.size(), kHeatRowsMost);
  EXPECT_EQ(map.rows.size() * map.step, kBytes);
  for (const auto& share : map.columns[0].shares) EXPECT_EQ(share, .25);
}

TEST(HeatMap, ManyWindowsShareColumns) {
  std::vector<heat_strip> strips;
  for (unsigned i = 0; i < 2 * kHeatColumnsMost; ++i) {
    heat_strip_builder builder(kNothing);
    builder.add_touched(kPage, i % 2 == 0 ? 1024 : 3072, page_state::given_back);
    if (i == 1) builder.add_touched(5 * kPage, 4096, page_state::given_back);
    strips.push_back(builder.finish());
  }
  const heat_map map = map_of(strips);
  ASSERT_EQ(map.columns.size(), kHeatColumnsMost);
  EXPECT_EQ(map.columns.back().last, strips.size() - 1);
  EXPECT_EQ(map.columns[0].shares[0], .5);
  EXPECT_EQ(map.columns[0].shares[1], 1.);
  EXPECT_EQ(map.columns[1].shares[1], std::nullopt);
}

TEST(HeatMap, OfNothing) {
  const heat_map map = map_of({heat_strip_builder(kNothing).finish()});
  EXPECT_TRUE(map.rows.empty());
  EXPECT_EQ(map.columns.size(), 1U);
}

}  // namespace
}  // namespace isotherm::pages
