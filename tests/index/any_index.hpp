// Runs a test over every structure and both kinds of storage.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>

#include "base/check.hpp"
#include "base/random.hpp"
#include "index/index.hpp"
#include "sync/retire.hpp"

namespace isotherm::index {

/// ISOTHERM_TEST_SEED, or a fresh one; printed, so that a failure can be repeated.
inline std::uint64_t test_seed() {
  const char* given = std::getenv("ISOTHERM_TEST_SEED");
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t seed =
      given ? std::strtoull(given, nullptr, 10)
            : base::mix64(static_cast<std::uint64_t>(now) ^ static_cast<std::uint64_t>(getpid()));
  std::cout << "seed: ISOTHERM_TEST_SEED=" << seed << std::endl;
  return seed;
}

/// ISOTHERM_TEST_SCALE, a factor of the steps that tests under several threads take; 1 if unset.
inline std::uint64_t test_scale() {
  const char* given = std::getenv("ISOTHERM_TEST_SCALE");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

using index_kind = std::tuple<std::string_view, management>;

/// A fresh index of the test's kind.
class any_index_test : public testing::TestWithParam<index_kind> {
 protected:
  std::unique_ptr<any_index> make_index(std::size_t expected_keys = 0) {
    auto made = make(std::get<0>(GetParam()), std::get<1>(GetParam()), expected_keys);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  /// The value of `key`, copied out of its scope.
  static std::optional<std::string> get(any_index& index, std::string_view key) {
    access inside;
    const auto found = index.find(inside, key);
    if (!found) return std::nullopt;
    return std::string(*found);
  }
};

// Operations on a structure, each in an access of its own, which waits.
template <class Structure>
outcome insert(Structure& into, std::string_view key, const content& value) {
  access inside;
  return into.insert(inside, key, value);
}
template <class Structure>
outcome upsert(Structure& into, std::string_view key, const content& value) {
  access inside;
  return into.upsert(inside, key, value);
}
template <class Structure>
outcome update(Structure& in, std::string_view key, const updater& decide) {
  access inside;
  return in.update(inside, key, decide);
}
template <class Structure>
bool erase_from(Structure& from, std::string_view key) {
  access inside;
  return from.erase(inside, key);
}

/// Lets what the tests retired go before the process looks for leaks, and proves that it can.
class reclaim_at_end : public testing::Environment {
 public:
  void TearDown() override {
    // Each call may advance the epoch; no thread is inside a scope, so a few calls suffice.
    for (int i = 0; i < 8 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
    EXPECT_EQ(sync::retired_blocks(), 0u);
  }
};
inline const auto* const kReclaimAtEnd = testing::AddGlobalTestEnvironment(new reclaim_at_end);

inline std::string kind_name(const testing::TestParamInfo<index_kind>& info) {
  std::string name(std::get<0>(info.param));
  for (char& c : name) c = c == '-' ? '_' : c;
  return name + (std::get<1>(info.param) == management::on ? "_guide" : "_plain");
}

inline auto all_kinds() {
  return testing::Combine(testing::ValuesIn(names()),
                          testing::Values(management::off, management::on));
}

}  // namespace isotherm::index
