// The Redis client against a server of a few lines that answers with prepared bytes.
#include "lab/workload/servers/redis_target.hpp"
#include "tool/redis_connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "prepared_server.hpp"

namespace isotherm::workload {
namespace {

constexpr record_format kFormat{.key_size = 20, .value_size = 100};

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

base::result<answer> read_from(const std::string& answers) {
  prepared_server server{answers};
  redis_target store(server.where, kFormat, 1);
  auto session = store.connect();
  EXPECT_TRUE(session);
  return (*session)->read(7);
}

TEST(RedisTarget, ChecksWhatItReads) {
  record_buffer buffer(kFormat, 9);
  EXPECT_EQ(read_from(bulk(buffer.value(7))), answer::done);
  EXPECT_EQ(read_from(bulk(buffer.value(8))), answer::corrupt);
  EXPECT_EQ(read_from("$-1\r\n"), answer::missing);
}

TEST(RedisTarget, ErrorsAndLostConnectionsAreReported) {
  const auto refused = read_from("-OOM command not allowed\r\n");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("OOM command not allowed"), std::string::npos);
  const auto lost = read_from("$100\r\nabc");
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("connection"), std::string::npos);
}

base::result<answer> read_both(const std::string& first, const std::string& second) {
  prepared_server server{"*2\r\n" + first + second};
  redis_target store(server.where, kFormat, 1);
  auto session = store.connect();
  EXPECT_TRUE(session);
  return (*session)->read_all(std::array<std::uint64_t, 2>{7, 8});
}

TEST(RedisTarget, ChecksEachRecordOfAMultiget) {
  record_buffer buffer(kFormat, 9);
  const std::string seven = bulk(buffer.value(7)), eight = bulk(buffer.value(8));
  EXPECT_EQ(read_both(seven, eight), answer::done);
  EXPECT_EQ(read_both(seven, "$-1\r\n"), answer::missing);
  EXPECT_EQ(read_both(eight, "$-1\r\n"), answer::corrupt);
  EXPECT_EQ(read_both(seven, seven), answer::corrupt);
}

TEST(RedisTarget, ADeletedRecordMayBeGoneAlready) {
  for (const auto& [reply, expected] :
       {std::pair{":1\r\n", answer::done}, {":0\r\n", answer::missing}}) {
    prepared_server server{reply};
    redis_target store(server.where, kFormat, 1);
    auto session = store.connect();
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->remove(7), expected);
  }
}

TEST(RedisTarget, ACounterThatIsNoNumberIsCorrupt) {
  for (const auto& [reply, expected] :
       {std::pair{":1\r\n", answer::done},
        {"-ERR value is not an integer or out of range\r\n", answer::corrupt}}) {
    prepared_server server{reply};
    redis_target store(server.where, kFormat, 1);
    auto session = store.connect();
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->incr(7), expected);
  }
}

TEST(RedisTarget, LoadTakesAnAnswerForEachRecord) {
  std::string answers;
  for (int i = 0; i < 10; ++i) answers += "+OK\r\n";
  prepared_server server{answers};
  redis_target store(server.where, kFormat, 1);
  auto session = store.connect();
  ASSERT_TRUE(session);
  EXPECT_TRUE((*session)->load(0, 10));
}

TEST(RedisConnection, ReadsNestedNamesAndValues) {
  prepared_server server{
      "*4\r\n$4\r\nmode\r\n$2\r\non\r\n$3\r\nhot\r\n*2\r\n$5\r\nbytes\r\n:4096\r\n"};
  auto connection = tool::redis_connection::open(server.where);
  ASSERT_TRUE(connection);
  const auto found = connection->ask_fields("ISOTHERM STATS");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (tool::redis_connection::fields{{"hot.bytes", "4096"}, {"mode", "on"}}));
}

TEST(RedisConnection, SaysWhenAnAnswerHasAnotherShape) {
  for (const char* answer : {"+OK\r\n", "*1\r\n+one\r\n", "*2\r\n*0\r\n+x\r\n"}) {
    prepared_server server{answer};
    auto connection = tool::redis_connection::open(server.where);
    ASSERT_TRUE(connection);
    EXPECT_FALSE(connection->ask_fields("ISOTHERM STATS")) << answer;
  }
}

TEST(RedisTarget, AnAbsentServerIsOneClearLine) {
  const auto missing = tool::redis_connection::open({.path = "/nonexistent/socket", .host = ""});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nonexistent/socket"), std::string::npos);
  EXPECT_EQ(missing.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace isotherm::workload
