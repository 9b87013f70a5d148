// A disk to which nothing can be written: what is cold stays in DRAM, and clients notice nothing.
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string key(int i) { return "key:" + std::to_string(i); }
std::string value(int i) { return std::to_string(i) + std::string(3000, 'v'); }

class FailingWrites : public ColdServer {
 protected:
  static constexpr int kKeys = 100;

  FailingWrites() {
    for (int i = 0; i < kKeys; ++i) one_.run({"SET", key(i), value(i)});
    let_leave(leaving::values);
    cold_disk::fail_writes_with(EIO);
  }
  void expect_all() {
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(one_.run({"GET", key(i)}), bulk(value(i)));
  }

  running serving_{"hash-pugh", index::management::on};
  talker one_{serving_.path};
};

TEST_F(FailingWrites, LeaveEverythingInDram) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(page_out(), StartsWith("cannot write the cold file"));
    const std::uint64_t misses = heap::cold_reads().misses;
    expect_all();
    EXPECT_EQ(heap::cold_reads().misses, misses);
    EXPECT_EQ(one_.run({"SET", "new", "value"}), "+OK\r\n");
    EXPECT_EQ(one_.run({"DEL", "new"}), ":1\r\n");
    let_leave(leaving::values);
  }
}

TEST_F(FailingWrites, LoseNothingThatLeavesWhenTheDiskTakesItAgain) {
  EXPECT_THAT(page_out(), StartsWith("cannot write the cold file"));
  cold_disk::fail_writes_with(0);
  let_leave(leaving::values);
  EXPECT_EQ(page_out(), "");
  const std::uint64_t misses = heap::cold_reads().misses;
  expect_all();
  EXPECT_GT(heap::cold_reads().misses, misses);
}

TEST_F(FailingWrites, AreInNoFigureOfWhatIsWritten) {
  const heap::cold_file_statistics before = heap::cold_file();
  EXPECT_NE(page_out(), "");
  const heap::cold_file_statistics failed = heap::cold_file();
  EXPECT_EQ(failed.written_bytes, before.written_bytes);
  EXPECT_EQ(failed.file_bytes, before.file_bytes);
  EXPECT_EQ(failed.memory_bytes, before.memory_bytes);
  cold_disk::fail_writes_with(0);
  EXPECT_EQ(page_out(), "");
  const heap::cold_file_statistics after = heap::cold_file();
  EXPECT_GT(after.written_bytes, before.written_bytes);
  EXPECT_GT(after.file_bytes, before.file_bytes);
  EXPECT_EQ(after.file_bytes + after.memory_bytes, before.file_bytes + before.memory_bytes);
  for (const std::string_view command : {"INFO isotherm\r\n", "ISOTHERM STATS\r\n"}) {
    const std::string told = one_.ask(command);
    for (const auto& each : heap::cold_file_table()) {
      EXPECT_THAT(told, HasSubstr(each.name)) << command;
      EXPECT_THAT(told, HasSubstr(std::to_string(each.get(after)))) << command;
    }
  }
}

TEST_F(FailingWrites, ThatTakeTheirTimeHoldUpNoClient) {
  cold_disk::fail_writes_with(0);
  cold_disk::hold_writes();
  const int before = cold_disk::writes();
  std::string problem = "none was told";
  std::thread writes([&problem] { problem = page_out(); });
  until([before] { return cold_disk::writes() > before; });
  const std::uint64_t misses = heap::cold_reads().misses;
  expect_all();
  EXPECT_EQ(heap::cold_reads().misses, misses) << "they are in DRAM until they are written";
  EXPECT_EQ(one_.run({"SET", key(0), "new"}), "+OK\r\n");
  cold_disk::let_writes_go();
  writes.join();
  EXPECT_EQ(problem, "");
  EXPECT_EQ(one_.run({"GET", key(0)}), bulk("new"));
  EXPECT_EQ(one_.run({"SET", key(0), value(0)}), "+OK\r\n");
  expect_all();
}

}  // namespace
}  // namespace isotherm::server
