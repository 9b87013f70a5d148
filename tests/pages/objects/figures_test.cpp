// Figures of objects against plain sets of their bytes.
#include "pages/objects/figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random.hpp"

namespace isotherm::pages {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kSecond = 1'000'000'000;

allocation_event made(std::uint64_t address, std::uint64_t asked, std::uint64_t usable,
                      std::uint64_t caller) {
  return {.is_made = 1,
          .frame_count = 1,
          .address = address,
          .asked = asked,
          .usable = usable,
          .time_ns = kSecond,
          .frames = {caller}};
}

object_figures measure_all(const shadow& marks, const object_table& table) {
  auto figures = measure_objects(marks, 0, table, {}, 3 * kSecond);
  EXPECT_TRUE(figures);
  return std::move(*figures);
}

/// The figures of one object, and of memory outside, from a set of used bytes.
object_sizes sizes_in(const std::set<std::uint64_t>& used, std::uint64_t begin, std::uint64_t asked,
                      std::uint64_t usable) {
  std::set<std::uint64_t> bytes, lines, pages;
  for (auto b = used.lower_bound(begin); b != used.end() && *b < begin + usable; ++b) {
    bytes.insert(*b);
    lines.insert(*b / 64);
    pages.insert(*b / kPage);
  }
  return {.objects = 1,
          .asked = asked,
          .usable = usable,
          .touched_objects = bytes.empty() ? 0U : 1U,
          .touched = std::min<std::uint64_t>(asked, pages.size() * kPage),
          .used = bytes.size(),
          .lines = lines.size() * 64,
          .age_seconds = 2};
}

void expect_equal(const object_sizes& found, const object_sizes& expected) {
  EXPECT_EQ(found.objects, expected.objects);
  EXPECT_EQ(found.asked, expected.asked);
  EXPECT_EQ(found.usable, expected.usable);
  EXPECT_EQ(found.touched_objects, expected.touched_objects);
  EXPECT_EQ(found.touched, expected.touched);
  EXPECT_EQ(found.used, expected.used);
  EXPECT_EQ(found.lines, expected.lines);
  EXPECT_DOUBLE_EQ(found.age_seconds, expected.age_seconds);
}

TEST(ObjectFigures, AreThoseOfPlainSets) {
  const std::uint64_t seed = 20261202;
  SCOPED_TRACE(seed);
  base::random random(seed);
  const shadow marks = std::move(*shadow::create());
  std::set<std::uint64_t> used;
  for (int i = 0; i < 600; ++i) {
    const std::uint64_t address = (1 << 20) + random.below(60 * kPage),
                        bytes = 1 + random.below(70);
    marks.mark(0, address, bytes);
    for (std::uint64_t b = 0; b < bytes; ++b) used.insert(address + b);
  }
  object_table table;
  object_sizes all, of_sites[2];
  std::set<std::uint64_t> other = used, pages_with_objects;
  std::uint64_t at = (1 << 20) + 9 * kPage + 5;
  for (std::uint64_t i = 0; at < (1 << 20) + 50 * kPage; ++i) {
    const std::uint64_t asked = 1 + random.below(random.below(20) == 0 ? 3 * kPage : 300);
    const std::uint64_t usable = asked + random.below(30);
    table.apply(made(at, asked, usable, i % 2));
    const object_sizes sizes = sizes_in(used, at, asked, usable);
    all.add(sizes);
    of_sites[i % 2].add(sizes);
    other.erase(other.lower_bound(at), other.lower_bound(at + usable));
    for (std::uint64_t p = at / kPage; p <= (at + usable - 1) / kPage; ++p) {
      pages_with_objects.insert(p);
    }
    at += usable + random.below(40) + (random.below(50) == 0 ? 3 * kPage : 0);
  }
  std::set<std::uint64_t> pages_without;
  std::uint64_t between = 0;
  for (const std::uint64_t byte : other) {
    if (pages_with_objects.contains(byte / kPage)) {
      ++between;
    } else {
      pages_without.insert(byte / kPage);
    }
  }
  const object_figures found = measure_all(marks, table);
  expect_equal(found.all, all);
  EXPECT_EQ(found.other, between + pages_without.size() * kPage);
  EXPECT_GT(between, 0U);
  EXPECT_GT(pages_without.size(), 0U);
  ASSERT_EQ(found.by_site.size(), 2U);
  EXPECT_GE(found.by_site[0].sizes.untouched(), found.by_site[1].sizes.untouched());
  for (const site_figures& site : found.by_site) {
    expect_equal(site.sizes, of_sites[site.frames.at(0)]);
  }
  object_sizes of_sizes;
  for (const auto& row : found.by_size) of_sizes.add(row.sizes);
  expect_equal(of_sizes, all);
  EXPECT_DOUBLE_EQ(found.all.mean_age(), 2);
}

TEST(ObjectFigures, PredictTouchedObjectsPackedBesideOtherMemory) {
  const shadow marks = std::move(*shadow::create());
  object_table table;
  for (std::uint64_t i = 0; i < 100; ++i) table.apply(made(kPage + i * 128, 100, 120, 1));
  for (std::uint64_t i = 0; i < 100; i += 4) marks.mark(0, kPage + i * 128, 8);  // 25 of them
  marks.mark(0, kPage + 127, 1);                                                 // a header
  marks.mark(0, 100 * kPage, 8);                                                 // a page of others
  const object_figures found = measure_all(marks, table);
  EXPECT_EQ(found.all.touched, 2500U);
  EXPECT_EQ(found.other, 1 + kPage);
  EXPECT_EQ(found.predicted(), kPage + 1 + kPage);
}

TEST(ObjectFigures, AnObjectAboveAPageKeepsItsTouchedPagesOnly) {
  const shadow marks = std::move(*shadow::create());
  object_table table;
  table.apply(made(10 * kPage, 20 * kPage, 20 * kPage, 1));
  marks.mark(0, 12 * kPage - 4, 8);  // of two pages
  EXPECT_EQ(measure_all(marks, table).all.touched, 2 * kPage);
}

TEST(ObjectFigures, SizeClassesArePowersOfTwo) {
  const shadow marks = std::move(*shadow::create());
  object_table table;
  table.apply(made(0x1000, 0, 24, 1));
  table.apply(made(0x2000, 64, 64, 1));
  table.apply(made(0x3000, 65, 80, 1));
  const object_figures found = measure_all(marks, table);
  std::vector<std::uint64_t> largest;
  for (const auto& row : found.by_size) largest.push_back(row.largest);
  EXPECT_EQ(largest, (std::vector<std::uint64_t>{1, 64, 128}));
}

}  // namespace
}  // namespace isotherm::pages
