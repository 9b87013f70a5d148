// While DRAM is above its target and nothing can leave it, what may grow is refused.
#include <gmock/gmock.h>

#include "server/serving.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class full_management final : public idle_management {
 public:
  std::uint64_t memory_target_bytes() const override { return 123'456'789; }
  bool refuses_growth() const noexcept override { return is_full.load_relaxed(); }

  base::atomic<bool> is_full{false};
};

class MemoryTarget : public Serving {
 protected:
  void SetUp() override {
    manager_ = &manager;
    start();
    EXPECT_EQ(peer(path_).last_words("MSET k v n 1"), "+OK\r\n");
    manager.is_full.store_relaxed(true);
  }
  full_management manager;
};

TEST_F(MemoryTarget, RefusesWhatMayGrow) {
  for (const std::string_view grows :
       {"SET k w", "SETNX a v", "SETEX k 9 v", "PSETEX k 9 v", "GETSET k w", "MSET k w",
        "MSETNX a v", "APPEND k w", "SETRANGE k 9 w", "INCR n", "DECR n", "INCRBY n 2",
        "DECRBY n 2", "INCRBYFLOAT n 1.5", "COPY k a"}) {
    EXPECT_THAT(peer(path_).last_words(grows),
                StartsWith("-OOM command not allowed when DRAM is above --memory-target"))
        << grows;
  }
  EXPECT_EQ(peer(path_).last_words("MGET k n a"), "*3\r\n$1\r\nv\r\n$1\r\n1\r\n$-1\r\n");
}

TEST_F(MemoryTarget, LetsPassWhatDoesNot) {
  EXPECT_EQ(peer(path_).last_words("GET k"), "$1\r\nv\r\n");
  EXPECT_EQ(peer(path_).last_words("EXPIRE k 100"), ":1\r\n");
  EXPECT_EQ(peer(path_).last_words("PERSIST k"), ":1\r\n");
  EXPECT_EQ(peer(path_).last_words("RENAME k a"), "+OK\r\n");
  EXPECT_EQ(peer(path_).last_words("GETDEL a"), "$1\r\nv\r\n");
  EXPECT_EQ(peer(path_).last_words("DEL n"), ":1\r\n");
  EXPECT_EQ(peer(path_).last_words("FLUSHALL"), "+OK\r\n");
}

TEST_F(MemoryTarget, RefusesInAPipelineAndServesAgainBehindIt) {
  peer one(path_);
  one.send("SET k w\r\nGET k\r\nPING\r\n");
  const std::string passed = "$1\r\nv\r\n+PONG\r\n";
  std::string answers = one.receive(5);
  EXPECT_EQ(answers, "-OOM ");
  while (!answers.ends_with(passed)) answers += one.receive(1);
  manager.is_full.store_relaxed(false);
  one.send("SET k w\r\n");
  EXPECT_EQ(one.receive(5), "+OK\r\n");
}

TEST_F(MemoryTarget, IsToldAndItsRefusalsAreCounted) {
  EXPECT_THAT(peer(path_).last_words("INFO memory"),
              HasSubstr("memory_target_bytes:123456789\r\n"));
  peer(path_).last_words("SET a v\r\nGET a\r\nINCR n");
  EXPECT_THAT(peer(path_).last_words("INFO stats"), HasSubstr("refused_writes:2\r\n"));
  EXPECT_THAT(peer(path_).last_words("CONFIG RESETSTAT\r\nINFO stats"),
              HasSubstr("refused_writes:0\r\n"));
}

TEST_F(Serving, HasNoMemoryTargetWithoutManagement) {
  start();
  EXPECT_THAT(peer(path_).last_words("INFO memory"), HasSubstr("memory_target_bytes:0\r\n"));
}

}  // namespace
}  // namespace isotherm::server
