// The memcached client against a server of a few lines that answers with prepared bytes.
#include "lab/workload/servers/memcached_target.hpp"

#include <gtest/gtest.h>

#include <string>

#include "prepared_server.hpp"

namespace isotherm::workload {
namespace {

constexpr record_format kFormat{.key_size = 20, .value_size = 100};
/// To what a session asks before anything else.
const std::string kVersion = "VERSION 1.6.18\r\n";

struct opened {
  prepared_server server;
  std::unique_ptr<session> to_it;

  explicit opened(const std::string& answers) : server{kVersion, answers} {
    address where = server.where;
    where.speaks = address::protocol::memcached;
    auto session = memcached_target(where, kFormat, 1).connect();
    EXPECT_TRUE(session) << session.error().message;
    if (session) to_it = std::move(*session);
  }
};

std::string value_of(std::uint64_t key, std::uint64_t value) {
  record_buffer buffer(kFormat, 9);
  std::string text = "VALUE " + std::string(buffer.key(key)) + " 0 100\r\n";
  text += buffer.value(value);
  return text + "\r\nEND\r\n";
}

TEST(MemcachedTarget, ChecksWhatItReads) {
  EXPECT_EQ(*opened(value_of(7, 7)).to_it->read(7), answer::done);
  EXPECT_EQ(*opened(value_of(7, 8)).to_it->read(7), answer::corrupt);
  EXPECT_EQ(*opened("END\r\n").to_it->read(7), answer::missing);
}

TEST(MemcachedTarget, WritesAndLoads) {
  EXPECT_EQ(*opened("STORED\r\n").to_it->update(7), answer::done);
  EXPECT_EQ(*opened("STORED\r\n").to_it->insert(7), answer::done);
  EXPECT_TRUE(opened("STORED\r\n").to_it->load(7, 8));
  EXPECT_FALSE(opened("").to_it->load(7, 8));
}

TEST(MemcachedTarget, CountsAndBeginsWithOne) {
  EXPECT_EQ(*opened("8\r\n").to_it->incr(7), answer::done);
  EXPECT_EQ(
      *opened("CLIENT_ERROR cannot increment or decrement non-numeric value\r\n").to_it->incr(7),
      answer::corrupt);
}

TEST(MemcachedTarget, SaysWhatTheServerRefused) {
  const auto refused = opened("SERVER_ERROR out of memory storing object\r\n").to_it->update(7);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("SERVER FAILED TO ALLOCATE"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

TEST(MemcachedTarget, ALostConnectionIsAnError) {
  EXPECT_FALSE(opened("VALUE ").to_it->read(7));
  EXPECT_FALSE(opened("").to_it->read(7));
}

TEST(MemcachedTarget, SomethingElseThanAMemcachedIsOneClearLine) {
  prepared_server redis{"-ERR unknown command 'version'\r\n"};
  for (const std::string& path : {redis.where.path, std::string("/nonexistent/socket")}) {
    address where{.speaks = address::protocol::memcached, .path = path, .host = ""};
    const auto session = memcached_target(where, kFormat, 1).connect();
    ASSERT_FALSE(session);
    EXPECT_NE(session.error().message.find("memcached:unix:" + path), std::string::npos);
    EXPECT_EQ(session.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace isotherm::workload
