// The text form of the addresses at which servers listen.
#include "tool/address.hpp"

#include <gtest/gtest.h>

namespace isotherm::tool {
namespace {

TEST(Address, ReadsItsForms) {
  EXPECT_EQ(address::parse("unix:/tmp/x.sock")->path, "/tmp/x.sock");
  const auto tcp = address::parse("tcp:127.0.0.1:6379");
  ASSERT_TRUE(tcp);
  EXPECT_EQ(tcp->host, "127.0.0.1");
  EXPECT_EQ(tcp->port, 6379);
  EXPECT_EQ(address::parse("tcp:[::1]:80")->host, "::1");
  EXPECT_EQ(tcp->speaks, address::protocol::redis);
  const auto memcached = address::parse("memcached:unix:/tmp/m.sock");
  ASSERT_TRUE(memcached);
  EXPECT_EQ(memcached->speaks, address::protocol::memcached);
  EXPECT_EQ(memcached->path, "/tmp/m.sock");
  EXPECT_EQ(memcached->text(), "memcached:unix:/tmp/m.sock");
  for (const char* bad :
       {"", "unix:", "memcached:", "memcached:/tmp/x", "tcp:", "tcp:host",
        "tcp:host:", "tcp:host:0", "tcp:host:7x", "tcp:host:70000", "tcp::1", "udp:host:1"}) {
    EXPECT_FALSE(address::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace isotherm::tool
