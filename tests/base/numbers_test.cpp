#include "base/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace isotherm::base {
namespace {

constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr auto kSmallest = std::numeric_limits<std::int64_t>::min();

TEST(Numbers, AreDecimalWhateverTheyBeginWith) {
  EXPECT_EQ(parse_number<std::uint64_t>("0100"), 100u);
  EXPECT_EQ(parse_number<std::int64_t>("-010", -100, 100), -10);
  EXPECT_EQ(parse_number<double>("010"), 10);
  for (const auto* text : {"0x10", "0b1", "1e1", "1.0", "-1"})
    EXPECT_EQ(parse_number<std::uint64_t>(text), std::nullopt);
}

TEST(Numbers, TakeAllOfTheText) {
  for (const auto* text : {"", " 1", "1 ", "1,2", "+1", "--1", "1k", "1\n"}) {
    EXPECT_EQ(parse_number<std::uint64_t>(text), std::nullopt) << text;
    EXPECT_EQ(parse_number<std::int64_t>(text, kSmallest, 9), std::nullopt) << text;
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
  }
}

TEST(Numbers, KeepToTheirRange) {
  EXPECT_EQ(parse_number<std::uint64_t>("5", 5, 7), 5u);
  EXPECT_EQ(parse_number<std::uint64_t>("7", 5, 7), 7u);
  EXPECT_EQ(parse_number<std::uint64_t>("4", 5, 7), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("8", 5, 7), std::nullopt);
  EXPECT_EQ(parse_number<std::uint64_t>("-5", 0, 7), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("-1", -1, 65535), -1);
  EXPECT_EQ(parse_number<std::int64_t>("-2", -1, 65535), std::nullopt);
}

TEST(Numbers, ReachTheEndsOfTheirTypes) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), kLargest);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808", kSmallest, 0), kSmallest);
  EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775809", kSmallest, 0), std::nullopt);
}

TEST(Bytes, AreReadAsRedisWritesThem) {
  EXPECT_EQ(parse_bytes("100"), 100u);
  EXPECT_EQ(parse_bytes("0100b"), 100u) << "no octal";
  EXPECT_EQ(parse_bytes("1k"), 1000u);
  EXPECT_EQ(parse_bytes("1KB"), 1024u);
  EXPECT_EQ(parse_bytes("3m"), 3'000'000u);
  EXPECT_EQ(parse_bytes("2Gb"), std::uint64_t{2} << 30);
  EXPECT_EQ(parse_bytes("1tb"), std::uint64_t{1} << 40);
  for (const auto* text : {"", "kb", "1x", "-1", "1.5g", "0x10", "1 kb", "1kib", "1kbb", "+"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_bytes("99999999999999999tb"), UINT64_MAX);  // as in Redis
  EXPECT_EQ(parse_bytes("18446744073709551616"), UINT64_MAX);
}

TEST(Bytes, AreWrittenExactlyAndAsTheyAreRead) {
  EXPECT_EQ(format_bytes(0), "0");
  EXPECT_EQ(format_bytes(1000), "1000");
  EXPECT_EQ(format_bytes(3 << 10), "3kb");
  EXPECT_EQ(format_bytes(512 << 20), "512mb");
  EXPECT_EQ(format_bytes((512 << 20) + 1), "536870913");
  EXPECT_EQ(format_bytes(std::uint64_t{1} << 40), "1tb");
}

TEST(Numbers, AreFiniteByDefault) {
  for (const auto* text : {"nan", "inf", "-inf", "infinity", "1e999"}) {
    EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<double>("-1.5e-3"), -0.0015);
}

TEST(Numbers, AreInfiniteWhereTheirRangeIs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse_number<double>("inf", 0, kInfinity), kInfinity);
  EXPECT_EQ(parse_number<double>("-inf", 0, kInfinity), std::nullopt);
  for (const auto* text : {"nan", "1e999"})
    EXPECT_EQ(parse_number<double>(text, 0, kInfinity), std::nullopt) << text;
}

}  // namespace
}  // namespace isotherm::base
