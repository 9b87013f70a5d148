// Keys that have expired are removed without anybody's asking for them, in bounded pieces.
#include <map>

#include "store/fixture.hpp"

namespace isotherm::store::testing {
namespace {

constexpr std::uint64_t kUnbounded = UINT64_MAX;

/// A clock on which each look takes a nanosecond.
std::uint64_t looks() noexcept {
  static std::uint64_t count = 0;
  return ++count;
}

class Sweep : public Commands {
 protected:
  void set_expiring(int keys) {
    for (int i = 0; i < keys; ++i) run({"SET", "k" + std::to_string(i), "v", "PX", "10"});
  }
};

TEST_F(Sweep, RemovesWhatHasExpiredAndNothingElse) {
  set_expiring(500);
  run({"SET", "stays", "v", "PX", "1000"});
  run({"SET", "k0", "no longer expires"});
  run({"PEXPIRE", "k1", "2000"});
  now_ += 11;
  const auto swept = db_.sweep_expired(now_, kUnbounded);
  EXPECT_EQ(swept.removed, 498u);
  EXPECT_EQ(db_.keys(), 3u);
  EXPECT_EQ(db_.expiring_keys(), 2u);
  EXPECT_EQ(db_.counted().expired.sum(), 498u);
  EXPECT_EQ(db_.sweep_expired(now_, kUnbounded).removed, 0u);
}

TEST_F(Sweep, TellsHowLongKeysHaveYetToLive) {
  EXPECT_EQ(db_.average_ttl_ms(), 0);
  run({"SET", "stays", "v"});
  for (int i = 1; i <= 100; ++i) run({"SET", "k" + std::to_string(i), "v", "PX", "2000"});
  for (int i = 1; i <= 100; ++i) run({"SET", "l" + std::to_string(i), "v", "PX", "4000"});
  run({"SET", "longest", "v", "PXAT", "9223372036854775807"});
  run({"DEL", "longest"});
  db_.sweep_expired(now_, kUnbounded);
  EXPECT_NEAR(db_.average_ttl_ms(), 3000, 10);
  now_ += 2500;
  for (int i = 0; i < 1000; ++i) db_.sweep_expired(now_, kUnbounded);
  EXPECT_NEAR(db_.average_ttl_ms(), 1500, 10) << "of those that are left";
  run({"FLUSHALL"});
  EXPECT_EQ(db_.average_ttl_ms(), 0);
  db_.sweep_expired(now_, kUnbounded);
  run({"SET", "new", "v", "PX", "500"});
  db_.sweep_expired(now_, kUnbounded);
  EXPECT_EQ(db_.average_ttl_ms(), 500) << "nothing of those that have gone";
}

TEST_F(Sweep, EndsWithItsTimeAndGoesOnWhereItEnded) {
  constexpr std::size_t kKeys = 3000, kBudget = 100;
  set_expiring(kKeys);
  now_ += 11;
  std::size_t removed = 0;
  while (removed < kKeys) {
    const auto swept = db_.sweep_expired(now_, kBudget, &looks);
    // The clock is looked at after each key.
    ASSERT_LE(swept.removed, kBudget + 1);
    ASSERT_GT(swept.removed, 0u);
    removed += swept.removed;
  }
  EXPECT_EQ(db_.keys(), 0u);
}

TEST_F(Sweep, EndsWithItsTimeWhereNothingHasExpired) {
  constexpr std::size_t kKeys = 200'000;
  set_expiring(kKeys);
  // A stripe has some 200 of them, and 64 of its buckets pass between two looks.
  for (int i = 0; i < 10; ++i) EXPECT_LT(db_.sweep_expired(now_, 10, &looks).looked_at, 3000u);
  EXPECT_GT(db_.sweep_expired(now_, kUnbounded, &looks).looked_at, kKeys * 9 / 10);
}

TEST_F(Sweep, WritersKeepTheExpiredFromOutnumberingTheLiving) {
  constexpr std::size_t kLiving = 20'000;
  db_.set_writers_sweep(true);
  for (std::size_t i = 0; i < 10 * kLiving; ++i) {
    run({"SET", "k" + std::to_string(i), "v", "PX", std::to_string(kLiving)});
    ++now_;  // one expires as one is added
    ASSERT_LT(db_.expiring_keys(), 3 * kLiving) << i;
  }
  EXPECT_EQ(db_.expiring_keys(), db_.keys());
  db_.set_writers_sweep(false);
  const std::size_t before = db_.expiring_keys();
  run({"SET", "last", "v", "PX", "1"});
  EXPECT_EQ(db_.expiring_keys(), before + 1);
}

// A key on the way has left DRAM.
TEST_F(Sweep, WritersLeaveWhatTheyWouldWaitForToTheSweep) {
  constexpr int kKeys = 5000;
  set_expiring(kKeys);
  now_ += 11;
  index_.keys_are_out = true;
  db_.set_writers_sweep(true);
  waits_ = false;
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(run({"SET", "new" + std::to_string(i), "v", "PX", "100000"}), "+OK\r\n");
  }
  db_.set_writers_sweep(false);
  EXPECT_EQ(db_.keys(), 2 * kKeys);
  EXPECT_EQ(db_.expiring_keys(), db_.keys()) << "it is still known of each that it has expired";
  const auto sweep = [this] { return db_.sweep_expired(now_, kUnbounded).removed; };
  const std::size_t removed = sweep();  // from where the writers have come to
  EXPECT_EQ(removed + sweep(), static_cast<std::size_t>(kKeys));
}

TEST_F(Sweep, ReadsWhatIsColdBeforeItTakesTheStripe) {
  set_expiring(100);
  now_ += 11;
  std::map<std::string, bool, std::less<>> was_free;  // at the first look at a key
  index_.before_find = [&](std::string_view key) {
    stripe& mine = db_.locks().of(key);
    const bool is_free = mine.try_lock();
    if (is_free) mine.unlock();
    was_free.emplace(key, is_free);
  };
  EXPECT_EQ(db_.sweep_expired(now_, kUnbounded).removed, 100u);
  EXPECT_EQ(was_free.size(), 100u);
  for (const auto& [key, is_free] : was_free) EXPECT_TRUE(is_free) << key;
}

TEST_F(Sweep, AKeyThatIsWrittenMeanwhileStays) {
  set_expiring(1);
  now_ += 11;
  index_.before_find = [&](std::string_view) {
    index_.before_find = nullptr;
    run({"SET", "k0", "new", "PX", "500"});
  };
  EXPECT_EQ(db_.sweep_expired(now_, kUnbounded).removed, 0u);
  EXPECT_EQ(run({"GET", "k0"}), "$3\r\nnew\r\n");
  now_ += 501;
  EXPECT_EQ(db_.sweep_expired(now_, kUnbounded).removed, 1u);
}

}  // namespace
}  // namespace isotherm::store::testing
