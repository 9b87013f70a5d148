#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/check.hpp"

namespace isotherm::base {
namespace {

TEST(Error, SystemErrorSaysWhatAndWhy) {
  const error e = system_error("open /x", ENOENT);
  EXPECT_EQ(e.message, "open /x: No such file or directory");
  EXPECT_EQ(e.code, ENOENT);
}

TEST(CheckDeathTest, BrokenInvariantAbortsWithItsPlace) {
  EXPECT_DEATH(ISO_CHECK(1 == 2, "numbers changed"), "error_test.cpp.*1 == 2.*numbers changed");
}

}  // namespace
}  // namespace isotherm::base
