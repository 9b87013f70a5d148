#include "live/address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace isotherm::live {
namespace {

const std::vector<std::string> kOwn = {"box.example.org", "public.example.org"};

TEST(Address, IsAnIpAddressAndAPort) {
  const struct {
    std::string_view text, host;
    unsigned port;
    bool is_loopback;
  } good[] = {{"127.0.0.1:9180", "127.0.0.1", 9180, true}, {":0", "127.0.0.1", 0, true},
              {"localhost:80", "127.0.0.1", 80, true},     {"[::1]:65535", "::1", 65535, true},
              {"0.0.0.0:1", "0.0.0.0", 1, false},          {"[::]:1", "::", 1, false}};
  for (const auto& each : good) {
    const auto found = parse_address(each.text);
    ASSERT_TRUE(found) << each.text;
    EXPECT_EQ(found->host, each.host);
    EXPECT_EQ(found->port, each.port);
    EXPECT_EQ(found->is_loopback(), each.is_loopback);
  }
}

TEST(Address, IsNothingElse) {
  for (const std::string_view text :
       {"", "9180", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:9180 ",
        "::1:80", "[::1]", "[::1", "[::1]80", "[127.0.0.1]:80", "[localhost]:80", "example.org:80",
        "1.2.3:80", "/tmp/socket", "http://127.0.0.1:80"}) {
    const auto found = parse_address(text);
    ASSERT_FALSE(found) << text;
    EXPECT_NE(found.error().message.find("is no address for HTTP"), std::string::npos);
  }
}

TEST(Address, ItsUrlHasBracketsAroundSixColons) {
  EXPECT_EQ(url_of({"127.0.0.1", 9180}), "http://127.0.0.1:9180/");
  EXPECT_EQ(url_of({"::1", 80}), "http://[::1]:80/");
}

TEST(Address, AHostThatAnotherSitesNameCannotBeIsOurs) {
  for (const std::string_view host :
       {"127.0.0.1", "127.0.0.1:9180", "localhost", "localhost:9180", "[::1]:9180", "[::1]",
        "10.1.2.3:80", "isotherm:9180", "box.example.org:80", "box.example.org",
        "public.example.org", "localhost.", "localhost.:9180", "box.example.org."}) {
    EXPECT_TRUE(is_own_name(host, kOwn)) << host;
  }
  for (const std::string_view host :
       {"", ":80", "evil.example", "evil.example:9180", "localhost.evil.example",
        "127.0.0.1.evil.example", "127.0.0.1.", ".", "localhost..", "box.example.org:x",
        "localhost:99999", "[evil.example]", "[::1", "a b", "localhost/", "user@localhost",
        "::1"}) {
    EXPECT_FALSE(is_own_name(host, kOwn)) << host;
  }
  EXPECT_FALSE(is_own_name("", {}));
}

}  // namespace
}  // namespace isotherm::live
