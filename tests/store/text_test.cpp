#include "store/text.hpp"

#include <gtest/gtest.h>

namespace isotherm::store {
namespace {

TEST(Text, IntegersHaveOneSpelling) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_integer("-9223372036854775808"), INT64_MIN);
  for (const char* bad : {"", "-", "+1", " 1", "1 ", "01", "-0", "-01", "1.0", "0x1", "1e3",
                          "9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
    EXPECT_FALSE(parse_integer(bad)) << bad;
  }
  EXPECT_FALSE(parse_integer(std::string_view("1\0", 2)));
}

TEST(Text, FloatsAreReadWhole) {
  EXPECT_EQ(parse_float("5.0e3"), 5000.0L);
  EXPECT_EQ(parse_float("-.5"), -0.5L);
  EXPECT_TRUE(parse_float("inf"));
  for (const char* bad : {"", " 1", "1 ", "abc", "nan", "1e99999", "1.2.3"}) {
    EXPECT_FALSE(parse_float(bad)) << bad;
  }
  EXPECT_FALSE(parse_float(std::string(5 * 1024, '1')));
}

TEST(Text, FloatsAreWrittenWithoutNoise) {
  EXPECT_EQ(format_float(3.0L), "3");
  EXPECT_EQ(format_float(10.5L), "10.5");
  EXPECT_EQ(format_float(-0.0L), "0");
  EXPECT_EQ(format_float(10.1L + 0.2L), "10.3");
  EXPECT_EQ(format_float(100.0L), "100");
}

TEST(Text, Globs) {
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_TRUE(matches_glob("h?llo", "hello"));
  EXPECT_FALSE(matches_glob("h?llo", "hllo"));
  EXPECT_TRUE(matches_glob("h*llo", "heeeello"));
  EXPECT_TRUE(matches_glob("h[ae]llo", "hallo"));
  EXPECT_FALSE(matches_glob("h[^e]llo", "hello"));
  EXPECT_TRUE(matches_glob("h[a-c]llo", "hbllo"));
  EXPECT_TRUE(matches_glob("h[c-a]llo", "hbllo"));
  EXPECT_TRUE(matches_glob("a\\*b", "a*b"));
  EXPECT_FALSE(matches_glob("a\\*b", "axb"));
  EXPECT_TRUE(matches_glob("[\\]]", "]"));
  EXPECT_TRUE(matches_glob("*a*b*c", "xxaxxbxxabc"));
  EXPECT_FALSE(matches_glob("*a*b*c", "xxaxxbxxabd"));
  EXPECT_TRUE(matches_glob("HE*", "hello", letter_case::any));
  EXPECT_FALSE(matches_glob("", "a"));
  EXPECT_TRUE(matches_glob("a[", "a[") == false);
}

TEST(Text, HostileGlobsEnd) {
  std::string pattern, text(10000, 'a');
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches_glob(pattern + "b", text));
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(human_bytes(1536), "1.50K");
  EXPECT_EQ(human_bytes(12), "12B");
}

}  // namespace
}  // namespace isotherm::store
