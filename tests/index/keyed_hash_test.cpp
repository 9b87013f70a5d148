// Keys that were made to collide under xxHash3 as everybody has it collide here no more than
// others.
#include "index/hash/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace isotherm::index {
namespace {

constexpr std::size_t kKeys = 4096;

using crafted_key = std::array<char, 16>;
std::string_view text_of(const crafted_key& key) { return {key.data(), key.size()}; }

/// x for which x ^ (x >> shift) == `mixed`, 32 <= shift < 64.
constexpr std::uint64_t without_shift(std::uint64_t mixed, int shift) {
  return mixed ^ (mixed >> shift);
}

/// The 16-byte key whose XXH3_64bits() is `hash`: for this length the function is a bijection of
/// its second half once the first is chosen so that their product is zero.
crafted_key key_with_plain_hash(std::uint64_t hash) {
  // Parts of xxHash3's published secret: the words at 24 ^ 32 and at 40 ^ 48, and the inverse of
  // 0x165667919E3779F9, with which the last step multiplies.
  constexpr std::uint64_t kFirst = 0x6782737bea4239b9u, kSecond = 0xaf56bc3b0996523au;
  std::uint64_t inverse = 1;  // Newton: each round doubles the bits that are right
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0x165667919E3779F9u * inverse;
  std::uint64_t sum = without_shift(hash, 32) * inverse;
  sum = without_shift(sum, 37);
  const std::uint64_t halves[2] = {kFirst, (sum - 16) ^ kSecond};
  crafted_key key;
  std::memcpy(key.data(), halves, sizeof halves);
  return key;
}

/// 4096 keys of one chain in a plain table of as many buckets.
std::vector<crafted_key> crafted_keys() {
  std::vector<crafted_key> keys;
  for (std::uint64_t i = 0; i < kKeys; ++i) keys.push_back(key_with_plain_hash(i << 36));
  return keys;
}

TEST(KeyedHash, CraftedKeysShareAChainWithoutASecret) {
  std::uint64_t i = 0;
  for (const auto& key : crafted_keys()) {
    ASSERT_EQ(XXH3_64bits(key.data(), key.size()), i++ << 36);
  }
}

TEST(KeyedHash, CraftedKeysSpreadOverTheChains) {
  std::vector<int> chains(kKeys), upper(kKeys);
  for (const auto& key : crafted_keys()) {
    const std::uint64_t hash = hash_of(text_of(key));
    ++chains[hash % kKeys];
    ++upper[hash >> 52];
  }
  // Random hashes make a chain of 32 among them with a chance of 10^-31.
  EXPECT_LT(*std::max_element(chains.begin(), chains.end()), 32);
  EXPECT_LT(*std::max_element(upper.begin(), upper.end()), 32);
}

TEST(KeyedHash, KeysOfEveryLengthAreHashedWithTheSecret) {
  const std::string text(1000, 'x');
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string_view key(text.data(), length);
    EXPECT_NE(hash_of(key), XXH3_64bits(key.data(), key.size())) << length;
    EXPECT_EQ(hash_of(key), hash_of(std::string(key))) << length;
  }
}

/// Told by another process that runs this very program.
std::string hash_of_another_process() {
  FILE* const other = popen("exec /proc/$PPID/exe --gtest_filter=KeyedHash.IsTold", "r");
  std::string all;
  for (int c = 0; other && (c = std::fgetc(other)) != EOF;) all += static_cast<char>(c);
  if (other) pclose(other);
  const std::size_t at = all.find("hash of x: ");
  return at == std::string::npos ? "" : all.substr(at, all.find('\n', at) - at);
}

TEST(KeyedHash, IsTold) { std::printf("hash of x: %zu\n", hash_of("x")); }

TEST(KeyedHash, IsAnotherOneInEachProcess) {
  const std::string one = hash_of_another_process();
  ASSERT_NE(one, "");
  EXPECT_NE(one, hash_of_another_process());
}

}  // namespace
}  // namespace isotherm::index
