// A disk that does not answer: whoever needs it gets an error after a while, and nobody else
// notices.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "heap/readable.hpp"
#include "server/management/collector_management.hpp"
#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;

const std::string kGivenUp =
    "-IOERR the disk of cold memory has not answered for 10 s: the command was given up\r\n";

std::string key(int i) { return "key:" + std::to_string(i); }
/// In a page of its own.
std::string value(int i) { return std::to_string(i) + std::string(3000, 'v'); }
std::string get(int i) { return encode({"GET", key(i)}); }

class SilentDisk : public ColdServer {
 protected:
  static constexpr int kKeys = 20;

  void start(leaving which) {
    cold_disk::use_threads();
    serving_ = std::make_unique<running>("hash-pugh", index::management::on);
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
  const auto manager = make_management(collector, {heap::cold_backing::type::file, "/a/place"});
  const std::uint64_t lost = heap::lost_reads();
  const auto before = heap::cold_reads();
  talker one(path()), two(path()), other(path());
  send_all(one, get(0) + "PING\r\n" + get(1));
  send_all(two, encode({"MGET", "in", key(0), key(2)}) + encode({"APPEND", key(3), "+"}));
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
  EXPECT_EQ(one.replies(), kGivenUp + "+PONG\r\n" + kGivenUp);
  EXPECT_EQ(two.replies(), kGivenUp + kGivenUp);
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(one.ask(get(4)), kGivenUp) << "at once: it is known";
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

TEST_F(SilentDisk, KeysThatAreOutAreNeitherLeftOutNorWritten) {
  start(leaving::keys_too);
  talker one(path()), two(path()), other(path());
  send_all(one, "KEYS *\r\n");
  send_all(two, encode({"SET", key(7), "new"}));
  EXPECT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(one.replies(), kGivenUp);
  EXPECT_EQ(two.replies(), kGivenUp);
  let_answer();
  EXPECT_THAT(one.ask("KEYS *\r\n"), HasSubstr("*" + std::to_string(kKeys + 1) + "\r\n"));
  EXPECT_EQ(two.ask(get(7)), bulk(value(7)));
}

}  // namespace
}  // namespace isotherm::server
