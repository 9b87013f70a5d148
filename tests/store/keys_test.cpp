#include <gmock/gmock.h>

#include <set>

#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(Commands, KeysComeAndGo) {
  run({"MSET", "a", "1", "b", "2"});
  EXPECT_EQ(run({"EXISTS", "a", "a", "none"}), ":2\r\n");
  EXPECT_EQ(run({"TYPE", "a"}), "+string\r\n");
  EXPECT_EQ(run({"TYPE", "none"}), "+none\r\n");
  EXPECT_EQ(run({"DEL", "a", "a", "none"}), ":1\r\n");
  EXPECT_EQ(run({"UNLINK", "b"}), ":1\r\n");
  EXPECT_EQ(run({"DBSIZE"}), ":0\r\n");
}

// By a thread that waits for the disk, before it locks the keys.
TEST_F(Commands, DelRemovesTheOtherKeysWhereOneCannotBeRead) {
  run({"MSET", "a", "1", "bad", "2", "c", "3"});
  index_.unreadable = "bad";
  EXPECT_EQ(run({"DEL", "a", "bad", "c"}).substr(0, 7), "-IOERR ");
  EXPECT_EQ(run({"EXISTS", "a", "bad", "c"}), ":1\r\n");
}

TEST_F(Commands, WhatAWriteReadsIsBroughtInBeforeIt) {
  run({"MSET", "a", "1", "b", "2"});
  const auto values_brought_in = [this](const std::vector<std::string_view>& arguments) {
    std::string output;
    reply out(output);
    index_.values_read = 0;
    bring_in(*table_.resolve(arguments, out), {db_, out, arguments, now_, bounds_});
    return index_.values_read.load();
  };
  EXPECT_EQ(values_brought_in({"APPEND", "a", "x"}), 1u);
  EXPECT_EQ(values_brought_in({"RENAME", "a", "b"}), 2u);
  EXPECT_EQ(values_brought_in({"MSET", "a", "x", "b", "y"}), 0u) << "which are not read";
  EXPECT_EQ(values_brought_in({"DEL", "a", "b"}), 0u);
}

TEST_F(Commands, NoSeveralAreReadToSeeWhetherTheyAreThere) {
  run({"MSET", "a", "1", "b", "2"});
  index_.values_read = 0;
  EXPECT_EQ(run({"MSETNX", "c", "1", "b", "2"}), ":0\r\n");
  EXPECT_EQ(index_.values_read, 0u);
}

TEST_F(Commands, WhatGoesIsNotRead) {
  run({"SET", "a", "v"});
  run({"SET", "b", "v", "PX", "10"});
  run({"SET", "c", "v", "PX", "10"});
  run({"SET", "d", "v", "PX", "10"});
  index_.values_read = 0;
  EXPECT_EQ(run({"DEL", "a", "none"}), ":1\r\n");
  run({"SET", "e", "v", "PX", "10"});
  run({"SET", "d", "another", "PX", "20"});
  now_ += 11;
  run({"SET", "e", "another", "PX", "5"});
  EXPECT_EQ(db_.counted().expired.sum(), 1u) << "what e had before";
  EXPECT_EQ(run({"UNLINK", "b", "d", "e"}), ":2\r\n") << "b had expired";
  EXPECT_EQ(db_.sweep_expired(now_, UINT64_MAX).removed, 1u);
  EXPECT_EQ(index_.values_read, 0u);
  EXPECT_EQ(db_.keys(), 0u);
  EXPECT_EQ(db_.expiring_keys(), 0u);
  EXPECT_EQ(db_.counted().expired.sum(), 3u);
}

TEST_F(Commands, RenameMovesValueAndTime) {
  run({"SET", "a", "1", "EX", "50"});
  EXPECT_EQ(run({"RENAME", "a", "b"}), "+OK\r\n");
  EXPECT_EQ(run({"TTL", "b"}), ":50\r\n");
  EXPECT_EQ(run({"EXISTS", "a"}), ":0\r\n");
  EXPECT_EQ(run({"RENAME", "a", "b"}), "-ERR no such key\r\n");
  EXPECT_EQ(run({"RENAME", "b", "b"}), "+OK\r\n");
  run({"SET", "c", "2"});
  EXPECT_EQ(run({"RENAMENX", "c", "b"}), ":0\r\n");
  EXPECT_EQ(run({"RENAMENX", "c", "d"}), ":1\r\n");
  EXPECT_EQ(run({"COPY", "d", "b"}), ":0\r\n");
  EXPECT_EQ(run({"COPY", "d", "b", "REPLACE"}), ":1\r\n");
  EXPECT_EQ(run({"GET", "b"}), "$1\r\n2\r\n");
}

TEST_F(Commands, RenameWithoutMemoryLosesNothing) {
  run({"SET", "a", "1"});
  index_.fill_memory();
  EXPECT_THAT(run({"RENAME", "a", "b"}), HasSubstr("-OOM"));
  EXPECT_EQ(run({"GET", "a"}), "$1\r\n1\r\n");
}

TEST_F(Commands, ExpiryConditions) {
  run({"SET", "k", "v"});
  EXPECT_EQ(run({"EXPIRE", "k", "100", "XX"}), ":0\r\n");
  EXPECT_EQ(run({"EXPIRE", "k", "100", "GT"}), ":0\r\n");
  EXPECT_EQ(run({"EXPIRE", "k", "100", "LT"}), ":1\r\n");
  EXPECT_EQ(run({"EXPIRE", "k", "200", "NX"}), ":0\r\n");
  EXPECT_EQ(run({"EXPIRE", "k", "200", "gt"}), ":1\r\n");
  EXPECT_EQ(run({"TTL", "k"}), ":200\r\n");
  EXPECT_EQ(run({"EXPIRETIME", "k"}), ":1700000200\r\n");
  EXPECT_EQ(run({"PERSIST", "k"}), ":1\r\n");
  EXPECT_EQ(run({"PERSIST", "k"}), ":0\r\n");
  EXPECT_EQ(run({"EXPIRE", "k", "1", "foo"}), "-ERR Unsupported option foo\r\n");
  EXPECT_THAT(run({"EXPIRE", "k", "1", "NX", "XX"}), HasSubstr("not compatible"));
  EXPECT_EQ(run({"EXPIRE", "k", "9223372036854775807"}),
            "-ERR invalid expire time in 'expire' command\r\n");
  EXPECT_EQ(run({"EXPIRE", "k", "-1"}), ":1\r\n");
  EXPECT_EQ(run({"EXISTS", "k"}), ":0\r\n");
  EXPECT_EQ(run({"TTL", "k"}), ":-2\r\n");
}

TEST_F(Commands, TheLatestTimeOfExpiryIsTold) {
  EXPECT_EQ(run({"SET", "k", "v", "PXAT", "9223372036854775807"}), "+OK\r\n");
  EXPECT_EQ(run({"PEXPIRETIME", "k"}), ":9223372036854775807\r\n");
  EXPECT_EQ(run({"EXPIRETIME", "k"}), ":9223372036854776\r\n");
  run({"PEXPIREAT", "k", "9999999999499"});
  EXPECT_EQ(run({"EXPIRETIME", "k"}), ":9999999999\r\n");
  run({"PEXPIREAT", "k", "9999999999500"});
  EXPECT_EQ(run({"EXPIRETIME", "k"}), ":10000000000\r\n");
}

TEST_F(Commands, KeysExpireWhenTouched) {
  run({"SET", "k", "v", "PX", "10"});
  EXPECT_EQ(db_.expiring_keys(), 1u);
  now_ += 10;
  EXPECT_EQ(run({"GET", "k"}), "$1\r\nv\r\n");
  now_ += 1;
  EXPECT_EQ(run({"SET", "k", "w", "XX"}), "$-1\r\n");
  EXPECT_EQ(run({"GET", "k"}), "$-1\r\n");
  EXPECT_EQ(run({"DBSIZE"}), ":0\r\n");
  EXPECT_EQ(db_.expiring_keys(), 0u);
}

TEST_F(Commands, Walks) {
  std::set<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    run({"SET", "k" + std::to_string(i), "v"});
    expected.insert("k" + std::to_string(i));
  }
  run({"SET", "gone", "v", "PX", "1"});
  now_ += 2;
  std::set<std::string> seen;
  std::string cursor = "0";
  do {
    const std::string answer = run({"SCAN", cursor, "MATCH", "k*", "COUNT", "7"});
    std::vector<std::string> lines;
    for (std::size_t at = 0, end; (end = answer.find("\r\n", at)) != answer.npos; at = end + 2) {
      lines.push_back(answer.substr(at, end - at));
    }
    cursor = lines[2];
    for (std::size_t i = 5; i < lines.size(); i += 2) seen.insert(lines[i]);
  } while (cursor != "0");
  EXPECT_EQ(seen, expected);
  EXPECT_THAT(run({"KEYS", "k1?"}), HasSubstr("*10\r\n"));
  EXPECT_EQ(run({"SCAN", "0", "COUNT", "1000", "TYPE", "list"}), "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(run({"SCAN", "x"}), "-ERR invalid cursor\r\n");
  EXPECT_EQ(run({"SCAN", "0", "COUNT", "0"}), "-ERR syntax error\r\n");
  EXPECT_THAT(run({"RANDOMKEY"}), HasSubstr("\r\nk"));
  EXPECT_EQ(run({"FLUSHALL", "ASYNC"}), "+OK\r\n");
  EXPECT_EQ(run({"RANDOMKEY"}), "$-1\r\n");
}

TEST_F(Commands, IdleTimeCountsFromEveryUse) {
  const auto idle = [this](std::string_view key) { return run({"OBJECT", "IDLETIME", key}); };
  run({"SET", "k", "1"});
  now_ += 47'000;
  EXPECT_EQ(idle("k"), ":47\r\n");
  run({"GET", "k"});
  const std::vector<std::vector<std::string_view>> uses = {{"SET", "k", "1"},
                                                           {"GET", "k"},
                                                           {"INCR", "k"},
                                                           {"APPEND", "k", "0"},
                                                           {"GETEX", "k"},
                                                           {"GETSET", "k", "1"},
                                                           {"SETNX", "k", "2"},
                                                           {"SETRANGE", "k", "0", "1"},
                                                           {"MSET", "k", "1"},
                                                           {"EXPIRE", "k", "90"},
                                                           {"PERSIST", "k"},
                                                           {"INCRBYFLOAT", "k", "1"},
                                                           {"TOUCH", "k"},
                                                           {"STRLEN", "k"},
                                                           {"MGET", "k"},
                                                           {"COPY", "k", "copy"},
                                                           {"SETEX", "k", "90", "1"}};
  for (const auto& use : uses) {
    now_ += 2000;
    EXPECT_EQ(idle("k"), ":2\r\n") << use[0];
    run(use);
    EXPECT_EQ(idle("k"), ":0\r\n") << use[0];
  }
  EXPECT_EQ(idle("copy"), ":2\r\n");
  // A question about a key does not use it; a new key of an old name is new.
  now_ += 3000;
  const std::vector<std::vector<std::string_view>> questions = {
      {"EXISTS", "k"}, {"TTL", "k"},  {"TYPE", "k"},           {"OBJECT", "ENCODING", "k"},
      {"KEYS", "*"},   {"RANDOMKEY"}, {"MEMORY", "USAGE", "k"}};
  for (const auto& question : questions) run(question);
  EXPECT_EQ(idle("k"), ":3\r\n");
  run({"FLUSHALL"});
  run({"SET", "k", "1"});
  EXPECT_EQ(idle("k"), ":0\r\n");
}

TEST_F(Commands, ObjectAndMemory) {
  run({"MSET", "n", "12", "s", "abc", "l", std::string(45, 'x')});
  EXPECT_EQ(run({"OBJECT", "ENCODING", "n"}), "$3\r\nint\r\n");
  EXPECT_EQ(run({"OBJECT", "encoding", "s"}), "$6\r\nembstr\r\n");
  EXPECT_EQ(run({"OBJECT", "ENCODING", "l"}), "$3\r\nraw\r\n");
  run({"APPEND", "s", "d"});
  EXPECT_EQ(run({"OBJECT", "ENCODING", "s"}), "$3\r\nraw\r\n");
  run({"GET", "n"});
  now_ += 7000;
  EXPECT_EQ(run({"OBJECT", "IDLETIME", "n"}), ":7\r\n");
  EXPECT_THAT(run({"OBJECT", "FREQ", "n"}), HasSubstr("-ERR An LFU maxmemory policy"));
  EXPECT_EQ(run({"OBJECT", "FOO", "n"}), "-ERR unknown subcommand 'FOO'. Try OBJECT HELP.\r\n");
  EXPECT_EQ(run({"OBJECT", "FREQ"}),
            "-ERR wrong number of arguments for 'object|freq' command\r\n");
  EXPECT_EQ(run({"MEMORY", "USAGE", "none"}), "$-1\r\n");
  // A node of 32; key and value, which has a byte of flags, with a header of 8 and in steps of 16.
  run({"SET", std::string(24, 'k'), std::string(23, 'v')});
  EXPECT_EQ(run({"MEMORY", "USAGE", std::string(24, 'k')}), ":96\r\n");
  run({"SET", std::string(25, 'k'), std::string(24, 'v')});
  EXPECT_EQ(run({"MEMORY", "USAGE", std::string(25, 'k')}), ":128\r\n");
}

TEST_F(Commands, ErrorsOfTheTable) {
  EXPECT_EQ(run({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(run({"Foo", "a", "b\r\n"}),
            "-ERR unknown command 'Foo', with args beginning with: 'a' 'b  ' \r\n");
}

TEST_F(Commands, HitsAndMissesAreOfCommandsThatAnswerWhatIsThere) {
  const auto counted = [this](const std::vector<std::string_view>& command) {
    const std::size_t hits = db_.counted().hits.sum(), misses = db_.counted().misses.sum();
    run(command);
    return std::pair(db_.counted().hits.sum() - hits, db_.counted().misses.sum() - misses);
  };
  run({"SET", "k", "1"});
  using counts = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(counted({"GET", "k"}), counts(1, 0));
  EXPECT_EQ(counted({"GET", "none"}), counts(0, 1));
  EXPECT_EQ(counted({"MGET", "k", "none", "k"}), counts(2, 1));
  EXPECT_EQ(counted({"EXISTS", "k", "none"}), counts(1, 1));
  EXPECT_EQ(counted({"GETSET", "k", "2"}), counts(1, 0));
  EXPECT_EQ(counted({"GETDEL", "none"}), counts(0, 1));
  EXPECT_EQ(counted({"INCR", "k"}), counts(0, 0));
  EXPECT_EQ(counted({"SETNX", "k", "3"}), counts(0, 0));
  EXPECT_EQ(counted({"MEMORY", "USAGE", "k"}), counts(0, 0));
}

}  // namespace
}  // namespace isotherm::store::testing
