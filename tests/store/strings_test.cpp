#include <gmock/gmock.h>

#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(Commands, GetAndSetAnyBytes) {
  const std::string_view key("k\0\r\n", 4), value("\xff\0\r\n$", 5);
  EXPECT_EQ(run({"GET", key}), "$-1\r\n");
  EXPECT_EQ(run({"set", key, value}), "+OK\r\n");
  EXPECT_EQ(run({"gEt", key}), std::string("$5\r\n").append(value).append("\r\n"));
  EXPECT_EQ(run({"SET", "", ""}), "+OK\r\n");
  EXPECT_EQ(run({"GET", ""}), "$0\r\n\r\n");
  protocol_ = 3;
  EXPECT_EQ(run({"GET", "none"}), "_\r\n");
}

TEST_F(Commands, SetOptions) {
  EXPECT_EQ(run({"SET", "k", "1", "XX"}), "$-1\r\n");
  EXPECT_EQ(run({"SET", "k", "1", "NX"}), "+OK\r\n");
  EXPECT_EQ(run({"SET", "k", "2", "NX", "GET"}), "$1\r\n1\r\n");
  EXPECT_EQ(run({"SET", "k", "2", "GET"}), "$1\r\n1\r\n");
  EXPECT_EQ(run({"SET", "k", "3", "PX", "1500"}), "+OK\r\n");
  EXPECT_EQ(run({"PTTL", "k"}), ":1500\r\n");
  EXPECT_EQ(run({"SET", "k", "4", "KEEPTTL"}), "+OK\r\n");
  EXPECT_EQ(run({"TTL", "k"}), ":2\r\n");
  EXPECT_EQ(run({"SET", "k", "5"}), "+OK\r\n");
  EXPECT_EQ(run({"TTL", "k"}), ":-1\r\n");
  for (const auto& bad :
       {run({"SET", "k", "v", "NX", "XX"}), run({"SET", "k", "v", "EX"}),
        run({"SET", "k", "v", "EX", "1", "PX", "1"}), run({"SET", "k", "v", "EX", "1", "KEEPTTL"}),
        run({"SET", "k", "v", "PERSIST"}), run({"SET", "k", "v", "what"})}) {
    EXPECT_EQ(bad, "-ERR syntax error\r\n");
  }
  EXPECT_EQ(run({"SET", "k", "v", "EX", "0"}), "-ERR invalid expire time in 'set' command\r\n");
  EXPECT_EQ(run({"SET", "k", "v", "EX", "9223372036854775807"}),
            "-ERR invalid expire time in 'set' command\r\n");
  EXPECT_EQ(run({"SET", "k", "v", "EX", "x"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(run({"GET", "k"}), "$1\r\n5\r\n");
}

TEST_F(Commands, GetAndChange) {
  EXPECT_EQ(run({"GETSET", "k", "a"}), "$-1\r\n");
  EXPECT_EQ(run({"GETSET", "k", "b"}), "$1\r\na\r\n");
  EXPECT_EQ(run({"GETEX", "k", "EX", "10"}), "$1\r\nb\r\n");
  EXPECT_EQ(run({"TTL", "k"}), ":10\r\n");
  EXPECT_EQ(run({"GETEX", "k", "PERSIST"}), "$1\r\nb\r\n");
  EXPECT_EQ(run({"TTL", "k"}), ":-1\r\n");
  EXPECT_EQ(run({"GETEX", "k", "EXAT", "1"}), "$1\r\nb\r\n");
  EXPECT_EQ(run({"EXISTS", "k"}), ":0\r\n");
  run({"SET", "k", "c"});
  EXPECT_EQ(run({"GETDEL", "k"}), "$1\r\nc\r\n");
  EXPECT_EQ(run({"GETDEL", "k"}), "$-1\r\n");
}

TEST_F(Commands, SeveralKeysAtOnce) {
  EXPECT_EQ(run({"MSET", "a", "1", "b", "2", "a", "3"}), "+OK\r\n");
  EXPECT_EQ(run({"MGET", "a", "none", "b"}), "*3\r\n$1\r\n3\r\n$-1\r\n$1\r\n2\r\n");
  EXPECT_EQ(run({"MSET", "a"}), "-ERR wrong number of arguments for 'mset' command\r\n");
  EXPECT_EQ(run({"MSET", "a", "1", "b"}), "-ERR wrong number of arguments for 'mset' command\r\n");
  EXPECT_EQ(run({"MSETNX", "c", "1", "a", "9"}), ":0\r\n");
  EXPECT_EQ(run({"EXISTS", "c"}), ":0\r\n");
  EXPECT_EQ(run({"MSETNX", "c", "1", "d", "2"}), ":1\r\n");
  EXPECT_EQ(run({"PEXPIRE", "c", "10"}), ":1\r\n");
  EXPECT_EQ(run({"MSETNX", "c", "3"}), ":0\r\n");
  now_ += 11;
  EXPECT_EQ(run({"MSETNX", "c", "3"}), ":1\r\n") << "it has expired";
  EXPECT_EQ(run({"MGET", "c", "d"}), "*2\r\n$1\r\n3\r\n$1\r\n2\r\n");
}

TEST_F(Commands, PartsOfValues) {
  EXPECT_EQ(run({"APPEND", "k", "Hello"}), ":5\r\n");
  EXPECT_EQ(run({"APPEND", "k", " World"}), ":11\r\n");
  EXPECT_EQ(run({"STRLEN", "k"}), ":11\r\n");
  EXPECT_EQ(run({"GETRANGE", "k", "0", "4"}), "$5\r\nHello\r\n");
  EXPECT_EQ(run({"GETRANGE", "k", "-5", "-1"}), "$5\r\nWorld\r\n");
  EXPECT_EQ(run({"GETRANGE", "k", "5", "2"}), "$0\r\n\r\n");
  EXPECT_EQ(run({"GETRANGE", "k", "-100", "100"}), "$11\r\nHello World\r\n");
  EXPECT_EQ(run({"SETRANGE", "k", "6", "Redis"}), ":11\r\n");
  EXPECT_EQ(run({"SETRANGE", "p", "3", "x"}), ":4\r\n");
  EXPECT_EQ(run({"GET", "p"}), std::string("$4\r\n\0\0\0x\r\n", 10));
  EXPECT_EQ(run({"SETRANGE", "k", "-1", "x"}), "-ERR offset is out of range\r\n");
  EXPECT_EQ(run({"SETRANGE", "none", "5", ""}), ":0\r\n");
  EXPECT_EQ(run({"EXISTS", "none"}), ":0\r\n");
  EXPECT_THAT(run({"SETRANGE", "k", "536870912", "x"}), HasSubstr("exceeds maximum allowed size"));
  bounds_.longest_value = 12;
  EXPECT_THAT(run({"APPEND", "k", "12"}), HasSubstr("exceeds maximum allowed size"));
}

TEST_F(Commands, Numbers) {
  EXPECT_EQ(run({"INCR", "n"}), ":1\r\n");
  EXPECT_EQ(run({"DECRBY", "n", "3"}), ":-2\r\n");
  run({"SET", "n", "9223372036854775807"});
  EXPECT_EQ(run({"INCR", "n"}), "-ERR increment or decrement would overflow\r\n");
  EXPECT_EQ(run({"DECRBY", "n", "-9223372036854775808"}), "-ERR decrement would overflow\r\n");
  run({"SET", "n", "01"});
  EXPECT_EQ(run({"INCR", "n"}), "-ERR value is not an integer or out of range\r\n");
  run({"SET", "f", "10.50"});
  EXPECT_EQ(run({"INCRBYFLOAT", "f", "0.1"}), "$4\r\n10.6\r\n");
  EXPECT_EQ(run({"INCRBYFLOAT", "f", "x"}), "-ERR value is not a valid float\r\n");
  EXPECT_EQ(run({"INCRBYFLOAT", "f", "inf"}), "-ERR increment would produce NaN or Infinity\r\n");
  EXPECT_EQ(run({"GET", "f"}), "$4\r\n10.6\r\n");
}

TEST_F(Commands, NumbersKeepTheTimeToLive) {
  run({"SET", "n", "1", "EX", "100"});
  run({"INCR", "n"});
  run({"APPEND", "n", "0"});
  EXPECT_EQ(run({"TTL", "n"}), ":100\r\n");
  EXPECT_EQ(run({"GET", "n"}), "$2\r\n20\r\n");
}

TEST_F(Commands, WhatAnIndexCannotHoldIsRefused) {
  bounds_.longest_value = kLongestValue;
  for (const auto offset :
       {"9223372036854775807", "9223372036854775806", "4294967295", "4293918720"}) {
    EXPECT_EQ(run({"SETRANGE", "k", offset, "x"}),
              "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
  }
  EXPECT_EQ(run({"EXISTS", "k"}), ":0\r\n");
}

}  // namespace
}  // namespace isotherm::store::testing
