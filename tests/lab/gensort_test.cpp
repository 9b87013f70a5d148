#include "lab/records/gensort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "lab/records/valsort.hpp"
#include "sort/scratch.hpp"

namespace isotherm::lab {
namespace {

using testing::contents;
using testing::scratch;

uint128 make(const std::string& path, gensort_options o) {
  auto sum = gensort_file(path, o);
  EXPECT_TRUE(sum) << (sum ? "" : sum.error().message);
  return sum.value_or(0);
}

// Checksums published with, or printed by, gensort 1.5.
TEST(Gensort, AsciiRecordsHaveTheKnownChecksums) {
  const scratch dir;
  EXPECT_EQ(checksum_text(make(dir.file("a"), {.count = 1000, .ascii = true})), "1f5dfb3631a");
  EXPECT_EQ(checksum_text(make(dir.file("b"), {.count = 1'000'000, .ascii = true, .threads = 2})),
            "7a19cff467438");
}

// Users of TeraGen, which makes the same records, publish this checksum.
TEST(Gensort, BinaryRecordsHaveTheKnownChecksum) {
  const scratch dir;
  EXPECT_EQ(checksum_text(make(dir.file("a"), {.count = 1'000'000, .threads = 2})),
            "7a27e2d0d55de");
}

TEST(Gensort, FirstBinaryKeyIsTheKnownOne) {
  std::array<std::byte, kGensortRecord> record;
  gensort_record(0, gensort_random(0), {}, record);
  const unsigned char key[] = {0x4a, 0x69, 0x6d, 0x47, 0x72, 0x61, 0x79, 0x52, 0x49, 0x50};
  EXPECT_EQ(std::memcmp(record.data(), key, sizeof key), 0);
}

TEST(Gensort, PartsConcatenateToTheWholeForAnyThreadsAndKind) {
  const scratch dir;
  for (const bool ascii : {false, true}) {
    for (const bool skewed : {false, true}) {
      const auto whole = make(dir.file("w"), {.count = 1000, .ascii = ascii, .skewed = skewed});
      const auto a =
          make(dir.file("a"), {.count = 333, .ascii = ascii, .skewed = skewed, .threads = 3});
      const auto b =
          make(dir.file("b"),
               {.first = 333, .count = 667, .ascii = ascii, .skewed = skewed, .threads = 2});
      EXPECT_EQ(contents(dir.file("w")), contents(dir.file("a")) + contents(dir.file("b")));
      EXPECT_TRUE(whole == a + b);
    }
  }
}

TEST(Gensort, SkewedKeysRepeatAndPlainOnesDoNot) {
  const scratch dir;
  for (const bool skewed : {false, true}) {
    make(dir.file("f"), {.count = 10000, .skewed = skewed});
    const std::string all = contents(dir.file("f"));
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < all.size(); i += 100) keys.push_back(all.substr(i, 10));
    std::sort(keys.begin(), keys.end());
    const auto distinct = std::unique(keys.begin(), keys.end()) - keys.begin();
    if (skewed) {
      EXPECT_LT(distinct, 9000);
      EXPECT_GT(distinct, 1000);
    } else {
      EXPECT_EQ(distinct, 10000);
    }
  }
}

TEST(Gensort, FailsCleanlyWhereItCannotWrite) {
  auto r = gensort_file("/nonexistent/dir/file", {.count = 1});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("/nonexistent/dir"), std::string::npos);
}

TEST(Checksum, TextRoundTrips) {
  for (const uint128 sum :
       {uint128{0}, uint128{0x1f5dfb3631a}, (uint128{7} << 64) + 5, ~uint128{0}}) {
    auto back = parse_checksum(checksum_text(sum));
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == sum);
  }
  EXPECT_FALSE(parse_checksum("xyz"));
  EXPECT_FALSE(parse_checksum(""));
}

TEST(Valsort, CountsDisorderAndDuplicates) {
  const scratch dir;
  std::string data;
  for (const char c : {'a', 'b', 'b', 'a', 'C', 'd'}) data += std::string(100, c);
  testing::store(dir.file("f"), data);
  for (const unsigned threads : {1u, 2u, 5u}) {
    auto s = valsort_file(dir.file("f"), {.threads = threads});
    ASSERT_TRUE(s);
    EXPECT_EQ(s->records, 6u);
    EXPECT_EQ(s->unordered, 2u);
    EXPECT_EQ(s->first_unordered, 3u);
    EXPECT_EQ(s->duplicates, 1u);
    auto folded = valsort_file(dir.file("f"), {.ignore_case = true, .threads = threads});
    ASSERT_TRUE(folded);
    EXPECT_EQ(folded->unordered, 1u);
  }
}

TEST(Valsort, SummariesOfPartsCombineToTheWhole) {
  const scratch dir;
  make(dir.file("w"), {.count = 100});
  make(dir.file("a"), {.count = 40});
  make(dir.file("b"), {.first = 40, .count = 60});
  auto whole = valsort_file(dir.file("w"), {});
  auto a = valsort_file(dir.file("a"), {});
  auto b = valsort_file(dir.file("b"), {});
  ASSERT_TRUE(whole && a && b);
  auto parts = parse_summaries(summary_text(*a) + summary_text(*b));
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_TRUE(combine((*parts)[0], (*parts)[1], {}) == *whole);
  EXPECT_FALSE(parse_summaries("nonsense\n"));
  EXPECT_FALSE(parse_summaries(""));
}

TEST(Valsort, RefusesEmptyAndPartialFiles) {
  const scratch dir;
  testing::store(dir.file("empty"), "");
  testing::store(dir.file("partial"), std::string(150, 'x'));
  EXPECT_FALSE(valsort_file(dir.file("empty"), {}));
  EXPECT_FALSE(valsort_file(dir.file("partial"), {}));
  EXPECT_FALSE(valsort_file(dir.file("missing"), {}));
}

}  // namespace
}  // namespace isotherm::lab
