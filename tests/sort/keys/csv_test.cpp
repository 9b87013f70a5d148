// Ends of rows and columns of CSV, in pieces of any size.
#include "sort/keys/csv.hpp"

#include <isotherm/index_map.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "sort/keys/record_ends.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

sort_options rows_of_csv() {
  sort_options o;
  o.format = record_format::lines;
  o.csv = true;
  return o;
}

bytes_view bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(bytes_view bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The places behind the rows of `text`, which comes in pieces of at most `piece` bytes.
std::vector<std::size_t> ends_of(std::string_view text, std::size_t piece) {
  record_ends ends(rows_of_csv());
  std::vector<std::size_t> all;
  for (std::size_t at = 0; at < text.size();) {
    const bytes_view some = bytes_of(text).subspan(at, std::min(piece, text.size() - at));
    const std::size_t n = ends.find(some);
    at += n == 0 ? some.size() : n;
    if (n != 0) all.push_back(at);
  }
  return all;
}

std::vector<std::string> contents(std::string_view row) {
  std::vector<std::string> all;
  std::vector<std::byte> room;
  for (const part at : all_columns(bytes_of(row), std::byte{','})) {
    all.push_back(text_of(contents_of(bytes_of(row).subspan(at.begin, at.end - at.begin), room)));
  }
  return all;
}

TEST(Csv, RowsEndOutsideQuotes) {
  EXPECT_EQ(ends_of("a\n\"b\n\"\n\"c\"\"\n\",d\n", 99), (std::vector<std::size_t>{2, 7, 16}));
  EXPECT_EQ(ends_of("a\"\nb,\"\n\"\"\"x\n", 99), (std::vector<std::size_t>{3, 12}));
  EXPECT_EQ(ends_of("\"a\"b\"\nc\n", 99), (std::vector<std::size_t>{6, 8}));
}

TEST(Csv, PiecesDoNotChangeWhereRowsEnd) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::random random(seed);
    std::string text;
    for (int i = 0; i < 300; ++i) text += "aab,,\"\"\"\n\r"[random.below(10)];
    const auto whole = ends_of(text, text.size());
    for (const std::size_t piece : {1, 2, 3, 7, 64}) EXPECT_EQ(ends_of(text, piece), whole);
  }
}

TEST(Csv, ColumnsLoseTheirQuotes) {
  using columns = std::vector<std::string>;
  EXPECT_EQ(contents("a,\"b,\"\"c\"\"\",\r"), (columns{"a", "b,\"c\"", ""}));
  EXPECT_EQ(contents("\"\",\"\"\"\",a\"b\""), (columns{"", "\"", "a\"b\""}));
  EXPECT_EQ(contents("\"a\"b\"\"c,\"a\"\"b\"c\"d"), (columns{"ab\"\"c", "a\"bc\"d"}));
  EXPECT_EQ(contents(""), columns{""});
  EXPECT_EQ(contents(","), (columns{"", ""}));
}

TEST(Csv, ARowWithFewerColumnsHasEmptyOnes) {
  const part behind = find_column(bytes_of("a,b\r"), 3, std::byte{','});
  EXPECT_EQ(behind.begin, behind.end);
  EXPECT_EQ(behind.end, 3u);
  EXPECT_EQ(find_columns_from(bytes_of("a,b,c\r"), 2, std::byte{','}).begin, 2u);
}

TEST(Csv, AnIndexMapHasItsKeysAndRows) {
  const testing::scratch dir;
  const std::string path = dir.file("rows");
  testing::store(path, "id,name\n2,\"b\n\"\n1,\"a\"\"\"\n");
  sort_options o = rows_of_csv();
  o.header_lines = 1;
  o.keys = {{.column = "name"}};
  auto map = index_map::build(path, o);
  ASSERT_TRUE(map) << map.error().message;
  ASSERT_TRUE(map->sort());
  ASSERT_EQ(map->size(), 2u);
  EXPECT_EQ(text_of(*map->record(0)), "1,\"a\"\"\"\n");
  EXPECT_EQ(text_of(*map->key(1)), "\"b\n\"");
}

}  // namespace
}  // namespace isotherm::sort
