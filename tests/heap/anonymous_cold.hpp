// For tests of a COLD that is memory of the process.
#pragma once

#include <gtest/gtest.h>

#include "heap/configure.hpp"

namespace isotherm::testing_help {

/// Configures the heaps before the first test.
class anonymous_cold final : public testing::Environment {
  void SetUp() override {
    heap::options chosen;
    chosen.cold = *heap::cold_backing::parse("anon");
    ASSERT_TRUE(heap::configure(chosen));
  }
};

inline testing::Environment* with_anonymous_cold() {
  return testing::AddGlobalTestEnvironment(new anonymous_cold);
}

}  // namespace isotherm::testing_help
