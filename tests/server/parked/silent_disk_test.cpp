// A disk that does not answer: a client that needs it gets an error after a while, and no other
// notices.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "heap/cold/statistics.hpp"
#include "server/management/collector_management.hpp"
#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;

const std::string kGivenUp =
    "-IOERR the disk of cold memory has not answered for 2 s: the command was given up\r\n";

std::string key(int i) { return "key:" + std::to_string(i); }
/// In a page of its own.
std::string value(int i) { return std::to_string(i) + std::string(3000, 'v'); }
std::string get(int i) { return encode({"GET", key(i)}); }

class SilentDisk : public ColdServer {
 protected:
  static constexpr int kKeys = 20;

  static void SetUpTestSuite() {
    limits.answers_within = std::chrono::seconds(2);
    limits.answers_one_within = std::chrono::milliseconds(500);
    limits.leaves_within = std::chrono::milliseconds(500);
    ColdServer::SetUpTestSuite();
  }

  void start(leaving which, std::string_view index = "hash-pugh") {
    cold_disk::use_threads();
    serving_ = std::make_unique<running>(index, index::management::on);
    talker one(path());
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(one.run({"SET", key(i), value(i)}), "+OK\r\n");
    send_out(which);
    ASSERT_EQ(one.ask("SET in DRAM\r\n"), "+OK\r\n");
    cold_disk::hold();
  }
  static void send_all(talker& by, const std::string& commands) {
    by.send(commands + std::string(talker::kLast));
  }
  static void let_answer() {
    cold_disk::let_go();
    until([] { return heap::cold_reads().unanswered == 0; });
  }
  const std::string& path() const { return serving_->path; }

  std::unique_ptr<running> serving_;
};

TEST_F(SilentDisk, IsAnErrorOfWhatNeedsItAfterAWhile) {
  start(leaving::values);
  collector::object_collector collector({});
  const auto manager = make_management(collector, *heap::cold_backing::parse("file:/a/place"));
  const std::uint64_t lost = heap::lost_reads();
  const auto before = heap::cold_reads();
  talker one(path()), two(path()), other(path());
  send_all(one, get(0) + "PING\r\n" + get(1));
  send_all(two, encode({"MGET", "in", key(0), key(2)}) + encode({"APPEND", key(3), "+"}));
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
  EXPECT_EQ(one.replies(), kGivenUp + "+PONG\r\n" + kGivenUp);
  EXPECT_EQ(two.replies(), kGivenUp + kGivenUp);
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
  EXPECT_EQ(one.ask(get(4)), kGivenUp);
  EXPECT_GE(serving_->manager.reports, 1);
  EXPECT_GT(heap::cold_reads().unanswered, 0u);
  EXPECT_GE(heap::cold_reads().failed_reads - before.failed_reads, 4u);
  EXPECT_THAT(manager->problem(), HasSubstr("does not answer"));
  EXPECT_THAT(manager->problem(), HasSubstr("'/a/place'"));
  let_answer();
  EXPECT_EQ(manager->problem(), "");
  EXPECT_EQ(heap::lost_reads(), lost);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(one.ask(get(i)), bulk(value(i))) << "nothing has changed";
}

// Which waits for what it misses beyond what is held for it.
TEST_F(SilentDisk, IsAnErrorOfACommandThatNeedsMoreThanIsHeldForIt) {
  start(leaving::values);
  cold_disk::let_go();
  talker one(path()), other(path());
  std::vector<std::string> words{"MGET"};
  for (std::size_t i = 0; i <= limits.noted_bytes >> 20U; ++i) {
    words.push_back("large:" + std::to_string(i));
    ASSERT_EQ(one.run({"SET", words.back(), std::string(std::size_t{1} << 20, 'l')}), "+OK\r\n");
  }
  send_out();
  cold_disk::hold();
  send_all(one, encode(words));
  EXPECT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(one.replies(), kGivenUp);
  let_answer();
}

TEST_F(SilentDisk, KeysThatAreOutAreNeitherLeftOutNorWritten) {
  start(leaving::keys_too);
  const std::vector<std::string> commands{"KEYS *\r\n",
                                          "SCAN 0 COUNT 1000\r\n",
                                          "RANDOMKEY\r\n",
                                          encode({"SET", key(7), "new"}),
                                          encode({"DEL", key(7), "nowhere"}),
                                          encode({"MSET", key(8), "new", key(9), "new"}),
                                          encode({"RENAME", key(10), "other"})};
  std::vector<std::unique_ptr<talker>> clients;
  for (const std::string& each : commands) {
    clients.push_back(std::make_unique<talker>(path()));
    send_all(*clients.back(), each);
  }
  talker other(path());
  EXPECT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(clients[i]->replies(), kGivenUp) << commands[i];
  }
  let_answer();
  EXPECT_THAT(other.ask("KEYS *\r\n"), HasSubstr("*" + std::to_string(kKeys + 1) + "\r\n"));
  for (int i = 7; i < 11; ++i) EXPECT_EQ(other.ask(get(i)), bulk(value(i)));
}

// An ordered index keeps where a walk is by its last key.
TEST_F(SilentDisk, AWalkGoesOnWhereItWas) {
  start(leaving::values, "masstree");
  cold_disk::let_go();
  talker one(path());
  std::string first = one.ask("SCAN 0 COUNT 5\r\n");
  const std::size_t length_at = first.find('$') + 1;
  const std::size_t cursor_at = first.find("\r\n", length_at) + 2;
  const std::string cursor = first.substr(cursor_at, first.find("\r\n", cursor_at) - cursor_at);
  ASSERT_NE(cursor, "0");
  const std::string again = "SCAN " + cursor + " COUNT 1000\r\n";
  send_out(leaving::keys_too);
  cold_disk::hold();
  EXPECT_EQ(one.ask(again), kGivenUp);
  let_answer();
  const std::string rest = one.ask(again);
  for (int i = 0; i < kKeys; ++i) {
    const std::string name = bulk(key(i));
    EXPECT_NE(first.find(name) == std::string::npos, rest.find(name) == std::string::npos) << name;
  }
}

}  // namespace
}  // namespace isotherm::server
