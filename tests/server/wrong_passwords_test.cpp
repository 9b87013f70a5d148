#include "server/wrong_passwords.hpp"

#include <gtest/gtest.h>

namespace isotherm::server {
namespace {

constexpr std::int64_t kStart = 1'000'000;

TEST(WrongPasswords, TheFirstIsToldAtOnceAndManyInOneLine) {
  wrong_passwords log;
  EXPECT_FALSE(log.due(kStart));
  EXPECT_EQ(log.note("10.0.0.7:40000", kStart), "wrong password from 10.0.0.7:40000");
  for (int i = 1; i < 1000; ++i) {
    EXPECT_FALSE(log.note("10.0.0.8:" + std::to_string(i), kStart + i));
  }
  EXPECT_FALSE(log.due(kStart + wrong_passwords::kQuietMs - 1));
  EXPECT_EQ(log.due(kStart + wrong_passwords::kQuietMs),
            "999 wrong passwords, the last from 10.0.0.8:999");
  EXPECT_FALSE(log.due(kStart + 10 * wrong_passwords::kQuietMs));
  EXPECT_EQ(log.note("a:1", kStart + 10 * wrong_passwords::kQuietMs), "wrong password from a:1");
}

TEST(WrongPasswords, NothingIsLeftUntold) {
  wrong_passwords log;
  EXPECT_TRUE(log.note("a:1", kStart));
  EXPECT_FALSE(log.note("b:2", kStart));
  EXPECT_EQ(log.rest(), "wrong password from b:2");
  EXPECT_FALSE(log.rest());
}

TEST(WrongPasswords, AClockSetBackSilencesNothing) {
  wrong_passwords log;
  EXPECT_TRUE(log.note("a:1", kStart));
  EXPECT_TRUE(log.note("b:2", kStart - 3'600'000));
}

}  // namespace
}  // namespace isotherm::server
