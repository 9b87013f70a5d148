// The locks by key.
#include "store/stripes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace isotherm::store {
namespace {

TEST(Stripes, KeysMadeForOneStripeSpread) {
  // The standard library's hash is the same in every process, so that such keys are found fast.
  stripes all;
  std::map<const stripe*, int> keys;
  int found = 0;
  for (int i = 0; found < 1024; ++i) {
    const std::string key = "key" + std::to_string(i);
    if (std::hash<std::string_view>{}(key) % stripes::kCount != 0) continue;
    ++found;
    ++keys[&all.of(key)];
  }
  for (const auto& [which, count] : keys) EXPECT_LT(count, 32);
}

}  // namespace
}  // namespace isotherm::store
