#include "live/request.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace isotherm::live {
namespace {

const std::vector<std::string> kOwn = {"box.example.org", "public.example.org"};

unsigned status_of(const request_head& head, access wanted, control changes = control::allowed) {
  const auto refused = refusal_of(head, wanted, changes, kOwn);
  return refused ? refused->status : 200;
}

const request_head kGet{.method = "GET", .host = "127.0.0.1:9180"};
const request_head kPost{
    .method = "POST", .host = "127.0.0.1:9180", .content_type = "application/json"};

request_head with(request_head head, std::string_view request_head::* member,
                  std::string_view value) {
  head.*member = value;
  return head;
}
request_head of_host(request_head head, std::optional<std::string_view> host) {
  head.host = host;
  return head;
}

TEST(Request, OfAProgramIsAnswered) {
  EXPECT_EQ(status_of(kGet, access::page), 200u);
  EXPECT_EQ(status_of(kGet, access::read), 200u);
  EXPECT_EQ(status_of(with(kGet, &request_head::method, "HEAD"), access::read), 200u);
  EXPECT_EQ(status_of(kPost, access::change), 200u);
}

TEST(Request, UnderAnotherSitesNameIsRefused) {
  for (const access wanted : {access::page, access::read}) {
    EXPECT_EQ(status_of(of_host(kGet, "evil.example:9180"), wanted), 403u);
    EXPECT_EQ(status_of(of_host(kGet, ""), wanted), 403u);
  }
  EXPECT_EQ(status_of(of_host(kPost, "evil.example"), access::change), 403u);
}

TEST(Request, WithoutAHostIsNoBrowsersAndMayRead) {
  EXPECT_EQ(status_of(of_host(kGet, std::nullopt), access::read), 200u);
  EXPECT_EQ(status_of(of_host(kGet, std::nullopt), access::page), 200u);
  EXPECT_EQ(status_of(of_host(kPost, std::nullopt), access::change), 403u);
}

TEST(Request, MayComeBehindAProxyThatSpeaksHttps) {
  const auto own = of_host(kPost, "public.example.org");
  EXPECT_EQ(
      status_of(with(own, &request_head::origin, "https://public.example.org"), access::change),
      200u);
  EXPECT_EQ(status_of(with(of_host(kPost, "public.example.org:8443"), &request_head::origin,
                           "https://public.example.org:8443"),
                      access::change),
            200u);
  EXPECT_EQ(
      status_of(with(own, &request_head::origin, "https://other.example.org"), access::change),
      403u);
}

TEST(Request, OfAnotherSitesPageIsRefused) {
  for (const std::string_view origin : {"http://evil.example", "null", "https://127.0.0.1:9180",
                                        "http://127.0.0.1:9181", "http://127.0.0.1"}) {
    EXPECT_EQ(status_of(with(kGet, &request_head::origin, origin), access::read), 403u) << origin;
    EXPECT_EQ(status_of(with(kPost, &request_head::origin, origin), access::change), 403u);
  }
  for (const std::string_view site : {"cross-site", "same-site", "x"}) {
    EXPECT_EQ(status_of(with(kGet, &request_head::fetch_site, site), access::read), 403u);
    EXPECT_EQ(status_of(with(kPost, &request_head::fetch_site, site), access::change), 403u);
    EXPECT_EQ(status_of(with(kGet, &request_head::fetch_site, site), access::page), 200u)
        << "a link to the page";
  }
}

TEST(Request, OfThePageIsAnswered) {
  auto own = with(kGet, &request_head::fetch_site, "same-origin");
  EXPECT_EQ(status_of(own, access::read), 200u);
  own = with(kPost, &request_head::origin, "http://127.0.0.1:9180");
  EXPECT_EQ(status_of(own, access::change), 200u);
}

TEST(Request, ThatChangesIsAPostOfJsonWhereThatIsAllowed) {
  EXPECT_EQ(status_of(kPost, access::change, control::refused), 403u);
  EXPECT_EQ(status_of(kGet, access::change), 405u);
  EXPECT_EQ(status_of(kPost, access::read), 405u);
  EXPECT_EQ(status_of(kPost, access::page), 405u);
  for (const std::string_view type : {"", "text/plain", "application/x-www-form-urlencoded",
                                      "application/jsonp", "multipart/form-data"}) {
    EXPECT_EQ(status_of(with(kPost, &request_head::content_type, type), access::change), 415u);
  }
  EXPECT_EQ(status_of(with(kPost, &request_head::content_type, "application/json; charset=utf-8"),
                      access::change),
            200u);
}

TEST(Request, AChangeIsAnObjectOfTwoStrings) {
  const auto good = parse_change(R"({"name": "window", "value": "5"})");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->name, "window");
  EXPECT_EQ(good->value, "5");
  for (const std::string_view text :
       {"", "{", "[]", "null", R"({"name": "window"})", R"({"name": "window", "value": 5})",
        R"({"name": "a", "value": "b", "more": "c"})", R"({"name": ["a"], "value": "b"})",
        R"(["name", "value"])", "\xff"}) {
    EXPECT_FALSE(parse_change(text)) << text;
  }
}

TEST(Request, NamesOneOfTheHeaps) {
  EXPECT_EQ(parse_heap("cold"), heap::kind::cold);
  EXPECT_EQ(parse_heap("node"), heap::kind::node);
  EXPECT_EQ(parse_heap("COLD"), std::nullopt);
  EXPECT_EQ(parse_heap(""), std::nullopt);
}

}  // namespace
}  // namespace isotherm::live
