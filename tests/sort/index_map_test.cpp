// The public index map against the standard library, and what it reads.
#include <isotherm/index_map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::scratch;

constexpr std::uint64_t kMemory = 64 << 20;

std::string text(const base::result<std::vector<std::byte>>& r) {
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  if (!r) return "";
  return {reinterpret_cast<const char*>(r->data()), r->size()};
}

/// Records of 60 bytes whose keys, of `key` bytes at 5, repeat and share long prefixes.
std::vector<std::string> make(std::size_t n, std::size_t key) {
  base::random random(21);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < n; ++i) {
    std::string r = "head." + std::string(key, 'k');
    r.back() = static_cast<char>(random.below(100));
    r[5] = static_cast<char>(random.below(2));
    r += std::to_string(i);
    r.resize(60, '.');
    all.push_back(r);
  }
  return all;
}

std::string joined(const std::vector<std::string>& all) {
  std::string s;
  for (const auto& r : all) s += r;
  return s;
}

/// All records of a map over memory, in its order.
std::string gathered(const index_map& map) {
  std::string out(map.record_bytes(), '?');
  const auto r = map.gather(std::as_writable_bytes(std::span(out)));
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  return out;
}

class IndexMap : public ::testing::TestWithParam<std::size_t> {
 protected:
  sort_options options() const {
    return {.record_bytes = 60, .key_bytes = GetParam(), .key_offset = 5, .memory_bytes = kMemory};
  }
  void order(std::vector<std::string>& records) const {
    std::multimap<std::string, std::string> by_key;  // keeps equal keys in their order
    for (const auto& r : records) by_key.emplace(r.substr(5, GetParam()), r);
    records.clear();
    for (const auto& [key, r] : by_key) records.push_back(r);
  }
  scratch dir_;
};

TEST_P(IndexMap, SortsAndReadsOnlyWhatIsAskedFor) {
  auto records = make(3000, GetParam());
  testing::store(dir_.file("in"), joined(records));
  auto map = index_map::build(dir_.file("in"), options());
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_EQ(map->size(), records.size());
  EXPECT_EQ(text(map->record(17)), records[17]);
  ASSERT_TRUE(map->sort());
  order(records);
  for (std::size_t i = 0; i < records.size(); i += 7) {
    EXPECT_EQ(text(map->record(i)), records[i]) << i;
    EXPECT_EQ(text(map->key(i)), records[i].substr(5, GetParam())) << i;
    EXPECT_EQ(map->locate(i)->bytes, 60u);
  }
}

TEST_P(IndexMap, SortFirstGivesTheFirstOfTheFullOrder) {
  auto records = make(3000, GetParam());
  testing::store(dir_.file("in"), joined(records));
  order(records);
  for (const std::size_t count : {0, 1, 2, 50, 2999, 3000, 5000}) {
    auto map = index_map::build(dir_.file("in"), options());
    ASSERT_TRUE(map) << map.error().message;
    ASSERT_TRUE(map->sort_first(count));
    EXPECT_EQ(map->bytes_materialised(), 0u);
    for (std::size_t i = 0; i < std::min(count, records.size()); ++i) {
      ASSERT_EQ(text(map->record(i)), records[i]) << i << " of " << count;
    }
  }
}

TEST_P(IndexMap, GroupsStandTogetherAndCostNoValues) {
  auto records = make(3000, GetParam());
  testing::store(dir_.file("in"), joined(records));
  auto map = index_map::build(dir_.file("in"), options());
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_TRUE(map->sort());
  order(records);
  std::uint64_t at = 0;
  ASSERT_TRUE(map->for_each_group([&](index_map::group g) {
    EXPECT_EQ(g.first, at);
    const std::string key = records[at].substr(5, GetParam());
    for (std::uint64_t i = 0; i < g.count; ++i) {
      EXPECT_EQ(records[at + i].substr(5, GetParam()), key);
    }
    at += g.count;
    EXPECT_TRUE(at == records.size() || records[at].substr(5, GetParam()) != key);
    return true;
  }));
  EXPECT_EQ(at, records.size());
  EXPECT_EQ(map->bytes_materialised(), 0u);
  int seen = 0;
  ASSERT_TRUE(map->for_each_group([&](index_map::group) { return ++seen < 2; }));
  EXPECT_EQ(seen, 2);
}

TEST_P(IndexMap, RecordsInMemoryAreSortedAsThoseOfAFile) {
  auto records = make(3000, GetParam());
  const std::string input = joined(records);
  auto map = index_map::over(std::as_bytes(std::span(input)), options());
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_TRUE(map->sort());
  EXPECT_EQ(gathered(*map), [&] {
    auto ordered = records;
    order(ordered);
    return joined(ordered);
  }());
  std::vector<index_map::place> places(20);
  ASSERT_TRUE(map->locate(2980, places));
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(input.substr(places[i].offset, places[i].bytes), text(map->record(2980 + i)));
  }
}

INSTANTIATE_TEST_SUITE_P(KeyBytes, IndexMap, ::testing::Values(2, 10, 11, 12, 30));

TEST(IndexMapFormats, LinesWithoutAFinalNewlineAndKlv) {
  const scratch dir;
  testing::store(dir.file("lines"), "b two\n\na one\nc");
  auto lines = index_map::build(dir.file("lines"),
                                {.format = record_format::lines, .memory_bytes = kMemory});
  ASSERT_TRUE(lines) << lines.error().message;
  ASSERT_TRUE(lines->sort());
  ASSERT_EQ(lines->size(), 4u);
  EXPECT_EQ(text(lines->record(0)), "\n");
  EXPECT_EQ(text(lines->record(1)), "a one\n");
  EXPECT_EQ(text(lines->key(2)), "b two");
  EXPECT_EQ(text(lines->record(3)), "c\n");

  testing::store(dir.file("klv"), std::string("zz\3\0\0\0valaa\0\0\0\0", 15));
  auto klv = index_map::build(
      dir.file("klv"), {.format = record_format::klv, .key_bytes = 2, .memory_bytes = kMemory});
  ASSERT_TRUE(klv) << klv.error().message;
  ASSERT_TRUE(klv->sort());
  EXPECT_EQ(text(klv->key(0)), "aa");
  EXPECT_EQ(text(klv->record(1)), std::string("zz\3\0\0\0val", 9));
}

TEST(IndexMapFormats, LinesInMemoryMayBeLargerThanTheBuffersAndLackAnEnd) {
  const std::string large(5 << 20, 'b');
  const sort_options options{.format = record_format::lines, .memory_bytes = kMemory};
  for (const std::string& input : {large + "\nc\na", "c\n" + large + "\na\n", std::string()}) {
    auto map = index_map::over(std::as_bytes(std::span(input)), options);
    ASSERT_TRUE(map) << map.error().message;
    ASSERT_TRUE(map->sort());
    EXPECT_TRUE(gathered(*map) == (input.empty() ? "" : "a\n" + large + "\nc\n"));
  }
}

TEST(IndexMapFormats, WhatCannotBeReadIsRefused) {
  const scratch dir;
  testing::store(dir.file("odd"), std::string(150, 'x'));
  EXPECT_FALSE(index_map::build(dir.file("odd"), {.memory_bytes = kMemory}));
  EXPECT_FALSE(index_map::build(dir.file("none"), {.memory_bytes = kMemory}));
  testing::store(dir.file("many"), std::string(4 << 20, '\n'));
  auto r = index_map::build(dir.file("many"),
                            {.format = record_format::lines, .memory_bytes = 32 << 20});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("memory_bytes"), std::string::npos) << r.error().message;
}

}  // namespace
}  // namespace isotherm
