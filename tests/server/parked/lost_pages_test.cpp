// Records that the disk does not give back, in every structure: the file is cut. A program of its
// own: the file holds the records of all tests of a program.
#include <gmock/gmock.h>

#include <algorithm>

#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::AnyOf;
using ::testing::StartsWith;

constexpr int kKeys = 300;
std::string key(int i) { return "key:" + std::to_string(i); }
std::string value(int i) { return std::to_string(i) + std::string(3000, 'v'); }
constexpr std::string_view kUnreadable = "-IOERR ";

class LostPages : public ColdServer, public testing::WithParamInterface<std::string_view> {
 protected:
  LostPages() {
    for (int i = 0; i < kKeys; ++i) one_.run({"SET", key(i), value(i)});
  }
  ~LostPages() override { testing_help::truncate_cold(directory, kRangeBytes); }

  running serving_{GetParam(), index::management::on};
  talker one_{serving_.path};
};

TEST_P(LostPages, AreOneCommandsErrorAndNoMore) {
  send_out();
  ASSERT_TRUE(testing_help::truncate_cold(directory, 0));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_THAT(one_.run({"GET", key(i)}), StartsWith(kUnreadable)) << i;
    }
  }
  EXPECT_THAT(one_.run({"MGET", "nowhere", key(0)}), StartsWith(kUnreadable));
  EXPECT_EQ(one_.ask("SET a b\r\nGET a\r\n"), "+OK\r\n" + bulk("b"));
  const std::string pipeline = one_.ask("PING\r\n" + encode({"GET", key(5)}) + "GET a\r\n");
  EXPECT_THAT(pipeline, StartsWith("+PONG\r\n-IOERR "));
  EXPECT_TRUE(pipeline.ends_with("\r\n" + bulk("b")));
}

TEST_P(LostPages, WhereSomeAreLostTheOthersAreServed) {
  send_out(leaving::keys_too);
  const std::uint64_t used =
      heap::used_end(heap::kind::cold) - heap::range_of(heap::kind::cold).begin;
  constexpr std::uint64_t kPage = 4096;
  ASSERT_TRUE(testing_help::truncate_cold(directory, used / 2 / kPage * kPage));
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_THAT(one_.run({"GET", key(i)}), AnyOf(bulk(value(i)), StartsWith(kUnreadable))) << i;
  }
  // Written values are there, and removed ones are not, where their keys can be found.
  for (int i = 0; i < kKeys; ++i) {
    if (i % 2 == 0) {
      const std::string set = one_.run({"SET", key(i), "new"});
      ASSERT_THAT(set, AnyOf("+OK\r\n", StartsWith(kUnreadable)));
      if (set == "+OK\r\n") {
        ASSERT_EQ(one_.run({"GET", key(i)}), bulk("new"));
      }
    } else {
      const std::string removed = one_.run({"DEL", key(i)});
      ASSERT_THAT(removed, AnyOf(":1\r\n", StartsWith(kUnreadable)));
      if (removed == ":1\r\n") {
        ASSERT_THAT(one_.run({"GET", key(i)}), AnyOf("$-1\r\n", StartsWith(kUnreadable)));
      }
    }
  }
  EXPECT_EQ(one_.ask("PING\r\n"), "+PONG\r\n");
}

TEST_P(LostPages, GoWithFlushall) {
  send_out(leaving::keys_too);
  ASSERT_TRUE(testing_help::truncate_cold(directory, 0));
  EXPECT_EQ(one_.ask("FLUSHALL\r\nDBSIZE\r\n"), "+OK\r\n:0\r\n");
  EXPECT_EQ(one_.ask("SET a b\r\nGET a\r\n"), "+OK\r\n" + bulk("b"));
}

std::string test_name(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, LostPages, testing::ValuesIn(index::names()), test_name);

}  // namespace
}  // namespace isotherm::server
