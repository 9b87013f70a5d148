// A program with a collector opens the page in one call.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <isotherm/live.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "guide/guide.hpp"
#include "heap/usage.hpp"
#include "live/address_map.hpp"

namespace isotherm::live {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A connection to the page.
class peer {
 public:
  explicit peer(const std::string& url) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~peer() { ::close(fd_); }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  void send(const std::string& text) const {
    EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// Returns what comes until `end` is in it, or the server closes.
  std::string receive(std::string_view end = {}) const {
    std::string all;
    char piece[4096];
    while (end.empty() || !all.contains(end)) {
      const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
      if (got <= 0) break;
      all.append(piece, static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  int fd_;
};

std::string ask(const page& of, const std::string& request_line, const std::string& more = {},
                const std::string& body = {}) {
  const peer asking(of.url());
  asking.send(request_line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more +
              "\r\n" + body);
  return asking.receive();
}

nlohmann::json json_of(const std::string& answer) {
  return nlohmann::json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
}

class Page : public testing::Test {
 protected:
  void open_page(control changes = control::refused) {
    auto opened = open(":0", collector_, changes);
    ASSERT_TRUE(opened) << opened.error().message;
    page_ = std::move(*opened);
  }
  std::string change(const std::string& body, const std::string& type = "application/json") {
    return ask(
        *page_, "POST /api/options",
        "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
        body);
  }
  collector::object_collector collector_{{.window_seconds = 3600}};
  std::unique_ptr<page> page_;
};

TEST_F(Page, ServesItselfAndTheFigures) {
  open_page();
  EXPECT_THAT(page_->url(), StartsWith("http://127.0.0.1:"));
  EXPECT_THAT(ask(*page_, "GET /"), HasSubstr("<title>Isotherm</title>"));
  for (const char* file : {"/page.css", "/page.js", "/charts.js", "/map.js"}) {
    EXPECT_THAT(ask(*page_, std::string("GET ") + file), StartsWith("HTTP/1.1 200")) << file;
  }
  EXPECT_THAT(ask(*page_, "GET /healthz"), HasSubstr("\r\n\r\nok\n"));
  EXPECT_THAT(ask(*page_, "GET /metrics"), HasSubstr("\nisotherm_windows_total 0\n"));
  EXPECT_EQ(json_of(ask(*page_, "GET /api/stats"))["facts"]["manage"], "on");
  EXPECT_FALSE(json_of(ask(*page_, "GET /api/tables"))["control"]);
}

TEST_F(Page, ShowsTheAddressSpaceDownToTheObjects) {
  std::vector<guide<bytes>> held;
  for (int i = 0; i < 100; ++i) held.emplace_back(make_bytes(std::string(1000, 'x')));
  open_page();
  const auto before = json_of(ask(*page_, "GET /api/map"));
  EXPECT_TRUE(before["window"].is_null());
  ASSERT_EQ(before["heaps"].size(), 4u);
  EXPECT_EQ(before["heaps"][0]["heap"], "new");
  EXPECT_THAT(std::string(before["heaps"][0]["in_dram"]), HasSubstr("9"));
  {
    const scope inside;
    for (const auto& each : held) each.get(inside);
  }
  collector_.run_window();
  nlohmann::json after;
  do {  // until it may look again
    after = json_of(ask(*page_, "GET /api/map"));
  } while (!after.contains("window") || after["window"].is_null());
  EXPECT_GT(after["utilization_bound"], 0);
  EXPECT_THAT(std::string(after["heaps"][0]["used"]), HasSubstr("9"));
  nlohmann::json page;
  do {
    page = json_of(ask(*page_, "GET /api/page?heap=hot&page=1"));
  } while (page.contains("retry_after_ms"));
  EXPECT_GE(page["objects"].size(), 4u);
  EXPECT_EQ(page["objects"][0]["bytes"], 1000);
  EXPECT_TRUE(page["in_dram"]);
  // Addresses at which no object lives any more have been given back.
  const auto hot_held = [](const nlohmann::json& map) {
    return std::string(map["heaps"][1]["held"]);
  };
  EXPECT_THAT(hot_held(after), HasSubstr("1"));
  held.clear();
  heap::trim();  // room that waits for another object
  do {
    after = json_of(ask(*page_, "GET /api/map"));
  } while (!after.contains("heaps") || hot_held(after).contains('1'));
  EXPECT_THAT(hot_held(after), HasSubstr("0"));
}

TEST_F(Page, APartNeedNotWaitForTheWhole) {
  const auto held = make_guide<int>(1);
  address_map map(collector_);
  EXPECT_FALSE(map.overview().json.empty());
  EXPECT_FALSE(map.part(heap::kind::newborn, 0, 1).json.empty());
  EXPECT_FALSE(map.overview().json.empty()) << "what it saw last";
}

TEST_F(Page, RefusesWhatIsNoQuestionOfTheMap) {
  open_page();
  for (const char* path : {"/api/map?heap=warm&from=0&count=1", "/api/map?heap=hot",
                           "/api/map?heap=hot&from=-1&count=1", "/api/map?heap=hot&from=0&count=x",
                           "/api/page", "/api/page?heap=hot", "/api/page?page=1"}) {
    EXPECT_THAT(ask(*page_, std::string("GET ") + path), StartsWith("HTTP/1.1 400")) << path;
  }
  nlohmann::json far;
  do {
    far = json_of(ask(*page_,
                      "GET /api/map?heap=hot&from=18446744073709551615&count="
                      "18446744073709551615"));
  } while (far.contains("retry_after_ms"));
  EXPECT_EQ(far["in_dram"], "");
  do {
    far = json_of(ask(*page_, "GET /api/page?heap=hot&page=18446744073709551615"));
  } while (far.contains("retry_after_ms"));
  EXPECT_TRUE(far["objects"].empty());
}

TEST_F(Page, ChangesNothingUnlessThatIsAllowed) {
  open_page();
  EXPECT_THAT(change(R"({"name": "window", "value": "5"})"), StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(collector_.configuration().window_seconds, 3600);
}

TEST_F(Page, ChangesAnOptionWhereItIs) {
  open_page(control::allowed);
  EXPECT_THAT(change(R"({"name": "window", "value": "5"})"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(collector_.configuration().window_seconds, 5);
  EXPECT_THAT(change(R"({"name": "window", "value": "0"})"), HasSubstr("but takes"));
  EXPECT_THAT(change(R"({"name": "manage", "value": "track"})"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(change("name=window&value=7", "application/x-www-form-urlencoded"),
              StartsWith("HTTP/1.1 415"));
  EXPECT_EQ(collector_.configuration().window_seconds, 5);
}

TEST_F(Page, ABodyWithoutEndClosesTheConnection) {
  open_page(control::allowed);
  EXPECT_EQ(change(std::string(100'000, ' ')), "");
  EXPECT_THAT(ask(*page_, "GET /healthz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Page, StreamsEventsUntilItIsClosed) {
  open_page();
  const peer listening(page_->url()), silent(page_->url());
  for (const peer* each : {&listening, &silent}) {
    each->send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_THAT(listening.receive("\n\n"), HasSubstr("\"facts\":{"));
  EXPECT_THAT(listening.receive("\n\n"), HasSubstr("\"facts\":{")) << "and again";
  page_.reset();
  listening.receive();  // ends
}

TEST_F(Page, TakesNoAddressThatIsTakenOrNone) {
  open_page();
  const std::string taken = page_->url().substr(7, page_->url().size() - 8);
  const auto second = open(taken, collector_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("cannot serve HTTP at 127.0.0.1 port"));
  EXPECT_FALSE(open("nowhere", collector_));
  const auto open_to_all = open("0.0.0.0:0", collector_, control::allowed);
  ASSERT_FALSE(open_to_all);
  EXPECT_THAT(open_to_all.error().message, HasSubstr("there is no password"));
}

}  // namespace
}  // namespace isotherm::live
