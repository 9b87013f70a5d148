#include "lab/workload/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace isotherm::workload {
namespace {

TEST(Record, KeysHaveTheirSizeAndAreDifferent) {
  for (const std::size_t size : {16u, 19u, 20u, 30u, 64u}) {
    record_buffer buffer({.key_size = size, .value_size = 8}, 1);
    std::set<std::string> keys;
    for (std::uint64_t number = 0; number < 5000; ++number) {
      const std::string key(buffer.key(number));
      ASSERT_EQ(key.size(), size);
      ASSERT_EQ(buffer.key(number), key) << "the same number, the same key";
      ASSERT_TRUE(keys.insert(key).second);
      if (size >= 20) ASSERT_TRUE(key.starts_with("user"));
    }
  }
}

TEST(Record, ValuesTellTheirNumber) {
  for (const std::size_t size : {8u, 9u, 15u, 16u, 100u, 1024u}) {
    record_buffer buffer({.key_size = 30, .value_size = size}, 1);
    for (const std::uint64_t number :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{999'999}, ~std::uint64_t{0} - 1}) {
      const std::string value(buffer.value(number));
      ASSERT_EQ(value.size(), size);
      EXPECT_EQ(number_of(value), number);
      EXPECT_TRUE(buffer.take(value, number));
      EXPECT_FALSE(buffer.take(value, number + 1));
    }
  }
}

TEST(Record, DamageIsSeen) {
  record_buffer buffer({.key_size = 30, .value_size = 100}, 1);
  const std::string value(buffer.value(5));
  const std::string other(buffer.value(6));
  EXPECT_FALSE(buffer.take(value.substr(0, 50) + other.substr(50), 5)) << "torn";
  EXPECT_FALSE(buffer.take(value.substr(1), 5)) << "short";
  EXPECT_FALSE(buffer.take(value + "x", 5)) << "long";
  EXPECT_FALSE(number_of("short").has_value());
}

TEST(Record, SizesAreThoseOfTheirDistribution) {
  constexpr std::uint64_t kRecords = 100'000;
  constexpr std::size_t kLeast = 50, kGreatest = 149;  // a hundred sizes
  for (const auto sizes : {value_sizes::uniform, value_sizes::zipfian}) {
    const record_format format{.value_size = kGreatest, .sizes = sizes, .least_value_size = kLeast};
    record_buffer buffer(format, 1), other(format, 2);
    std::vector<int> seen(kGreatest + 1);
    double sum = 0;
    for (std::uint64_t number = 0; number < kRecords; ++number) {
      const std::string_view value = buffer.value(number);
      ASSERT_GE(value.size(), kLeast);
      ASSERT_EQ(value.size(), other.size_of(number)) << "of the number, not of the thread";
      ASSERT_TRUE(other.take(value, number));
      ++seen.at(value.size());
      sum += static_cast<double>(value.size());
    }
    const double smallest = sizes == value_sizes::uniform ? 0.01 : 1 / zeta(100, 0.99);
    EXPECT_NEAR(seen[kLeast], kRecords * smallest, 5 * std::sqrt(kRecords * smallest));
    EXPECT_GT(seen[kGreatest], 0);
    EXPECT_NEAR(static_cast<double>(format.object_bytes() - format.key_size), sum / kRecords, 1);
  }
}

TEST(Record, NoRecordHasTheKeyOfACounter) {
  record_buffer buffer({}, 1);
  std::set<std::string> keys;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    keys.emplace(buffer.key(number));
    keys.emplace(buffer.key(counter_of(number)));
  }
  EXPECT_EQ(keys.size(), 2000u);
}

TEST(Record, ADistributionOfSizesIsReadByName) {
  EXPECT_EQ(parse_value_sizes("zipfian"), value_sizes::zipfian);
  EXPECT_NE(parse_value_sizes("gauss").error().message.find("constant|uniform|zipfian"),
            std::string::npos);
}

TEST(Record, SizesOutOfBoundsAreRefusedWithTheirBounds) {
  EXPECT_TRUE(record_format{}.check());
  EXPECT_FALSE((record_format{.key_size = 15}.check()));
  EXPECT_FALSE((record_format{.key_size = 513}.check()));
  EXPECT_FALSE((record_format{.value_size = 7}.check()));
  EXPECT_FALSE((record_format{.value_size = 100, .least_value_size = 7}.check()));
  EXPECT_FALSE((record_format{.value_size = 100, .least_value_size = 101}.check()));
  const auto refused = record_format{.key_size = 3}.check();
  EXPECT_NE(refused.error().message.find("16 to 512"), std::string::npos);
}

}  // namespace
}  // namespace isotherm::workload
