// A disk to which nothing can be written: what is cold stays in DRAM, and clients notice nothing.
#include <gmock/gmock.h>

#include <string>

#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

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
  static std::string page_out() {
    return heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}).problem;
  }

  running serving_{"hash-pugh", index::management::on};
  talker one_{serving_.path};
};

TEST_F(FailingWrites, LeaveEverythingInDram) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(page_out(), StartsWith("cannot write back the cold file"));
    const std::uint64_t misses = heap::cold_reads().misses;
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(one_.run({"GET", key(i)}), bulk(value(i)));
    EXPECT_EQ(heap::cold_reads().misses, misses);
    EXPECT_EQ(one_.run({"SET", "new", "value"}), "+OK\r\n");
    EXPECT_EQ(one_.run({"DEL", "new"}), ":1\r\n");
    let_leave(leaving::values);
  }
}

TEST_F(FailingWrites, LoseNothingThatLeavesWhenTheDiskTakesItAgain) {
  EXPECT_THAT(page_out(), StartsWith("cannot write back the cold file"));
  cold_disk::fail_writes_with(0);
  let_leave(leaving::values);
  EXPECT_EQ(page_out(), "");
  const std::uint64_t misses = heap::cold_reads().misses;
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(one_.run({"GET", key(i)}), bulk(value(i)));
  EXPECT_GT(heap::cold_reads().misses, misses);
}

}  // namespace
}  // namespace isotherm::server
