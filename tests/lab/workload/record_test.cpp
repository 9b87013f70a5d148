#include "lab/workload/record.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

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

TEST(Record, SizesOutOfBoundsAreRefusedWithTheirBounds) {
  EXPECT_TRUE(record_format{}.check());
  EXPECT_FALSE((record_format{.key_size = 15}.check()));
  EXPECT_FALSE((record_format{.key_size = 513}.check()));
  EXPECT_FALSE((record_format{.value_size = 7}.check()));
  const auto refused = record_format{.key_size = 3}.check();
  EXPECT_NE(refused.error().message.find("16 to 512"), std::string::npos);
}

}  // namespace
}  // namespace isotherm::workload
