// --maxmemory: what it refuses, and how often it asks how much there is.
#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

TEST_F(commands, maxmemory_refuses_what_takes_memory) {
  run({"SET", "k", "v"});
  maxmemory_ = 100;
  used_ = 101;
  for (int i = 0; i < 10000; ++i) db_.memory().note_written(1024);
  EXPECT_EQ(run({"SET", "k", "w"}), "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  EXPECT_EQ(run({"GET", "k"}), "$1\r\nv\r\n");
  EXPECT_EQ(run({"DEL", "k"}), ":1\r\n");
  used_ = 100;
  ++now_;
  EXPECT_EQ(run({"SET", "k", "w"}), "+OK\r\n");
}

TEST(memory_meter, refusing_asks_once_a_millisecond) {
  int asked = 0;
  std::uint64_t used = 101;
  memory_meter meter([&] { return ++asked, used; });
  asked = 0;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(meter.is_over(100, 7));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(meter.is_over(101, 7));  // a limit that was raised holds at once
  used = 100;
  EXPECT_FALSE(meter.is_over(100, 8));
  EXPECT_EQ(asked, 2);
  used = 103;
  for (int i = 0; i < 200; ++i) meter.note_written(1024);
  EXPECT_TRUE(meter.is_over(100, 8));  // what was written since is looked at at once
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace isotherm::store::testing
