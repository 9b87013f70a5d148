// Commands that need no value read none, in every structure; and the end of commands whose read
// fails.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <thread>

#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAreArray;

constexpr int kKeys = 300;
std::string key(int i) { return "key:" + std::to_string(i); }
/// In a page of its own.
std::string value(int i) { return std::to_string(i) + std::string(3000, 'v'); }
constexpr std::string_view kUnreadable = "-IOERR ";

class EachIndex : public ColdServer, public testing::WithParamInterface<std::string_view> {
 protected:
  void start() {
    serving_ = std::make_unique<running>(GetParam(), index::management::on);
    one_ = std::make_unique<talker>(serving_->path);
    std::string text;
    for (int i = 0; i < kKeys; ++i) text += encode({"SET", key(i), value(i)});
    one_->ask(text);
  }
  /// Reads of COLD that the commands have needed, and those that a thread has waited for.
  struct needed {
    std::uint64_t misses = heap::cold_reads().misses, waits = waited_reads();
  };
  static void expect_none_since(const needed& before) {
    EXPECT_EQ(heap::cold_reads().misses, before.misses);
    EXPECT_EQ(waited_reads(), before.waits);
  }
  /// Keys in a reply, in its order.
  static std::vector<std::string> words_of(std::string_view reply) {
    std::vector<std::string> found;
    for (std::size_t at = reply.find("key:"); at != std::string_view::npos;
         at = reply.find("key:", at + 1)) {
      found.emplace_back(reply.substr(at, reply.find("\r\n", at) - at));
    }
    return found;
  }
  static std::vector<std::string> all_keys() {
    std::vector<std::string> all;
    for (int i = 0; i < kKeys; ++i) all.push_back(key(i));
    return all;
  }
  std::vector<std::string> listed() { return words_of(one_->run({"KEYS", "*"})); }
  std::vector<std::string> scanned(const std::string& count = "50") {
    std::vector<std::string> found;
    std::string cursor = "0";
    scans_ = 0;
    do {
      const std::string reply = one_->run({"SCAN", cursor, "COUNT", count});
      const std::size_t at = reply.find("\r\n", 4) + 2;  // behind "*2" and the cursor's length
      cursor = reply.substr(at, reply.find("\r\n", at) - at);
      std::ranges::move(words_of(reply), std::back_inserter(found));
      ++scans_;
    } while (cursor != "0");
    return found;
  }

  /// Keys of which one in 20 is out, in pages of its own.
  static constexpr int kMixed = 1000, kOneIn = 20, kOut = kMixed / kOneIn;
  static std::string mixed_key(int i) { return key(i) + std::string(4096, 'k'); }
  std::vector<std::string> start_mixed() {
    serving_ = std::make_unique<running>(GetParam(), index::management::on);
    one_ = std::make_unique<talker>(serving_->path);
    std::vector<std::string> all;
    for (int i = 0; i < kMixed; ++i) all.push_back(mixed_key(i));
    for (const auto& each : all) one_->run({"SET", each, "value"});
    send_out(leaving::keys_too);
    leave_in_cold();
    for (int i = 0; i < kMixed; ++i) {
      if (i % kOneIn != 0) one_->run({"SET", all[static_cast<std::size_t>(i)], "value"});
    }
    return all;
  }

  std::unique_ptr<running> serving_;
  std::unique_ptr<talker> one_;
  int scans_ = 0;  // commands of the last walk by SCAN
};

TEST_P(EachIndex, ReadsWritesAndListsWhatIsOut) {
  start();
  for (const leaving which : {leaving::values, leaving::keys_too}) {
    send_out(which);
    EXPECT_THAT(scanned(), UnorderedElementsAreArray(all_keys()));
    send_out(which);
    for (int i = 0; i < kKeys; i += 7) ASSERT_EQ(one_->run({"GET", key(i)}), bulk(value(i)));
    std::vector<std::string> several{"MGET"};
    std::string right;
    for (int i = 0; i < kKeys; ++i) {
      several.push_back(key(i));
      right += bulk(value(i));
    }
    ASSERT_EQ(one_->run(several), "*" + std::to_string(kKeys) + "\r\n" + right);
    send_out(which);
    for (int i = 0; i < kKeys; i += 5) ASSERT_EQ(one_->run({"SET", key(i), "new"}), "+OK\r\n");
    for (int i = 1; i < kKeys; i += 5) ASSERT_EQ(one_->run({"DEL", key(i)}), ":1\r\n");
    for (int i = 0; i < kKeys; ++i) {
      const std::string expected = i % 5 == 0   ? bulk("new")
                                   : i % 5 == 1 ? "$-1\r\n"
                                                : bulk(value(i));
      ASSERT_EQ(one_->run({"GET", key(i)}), expected) << i;
    }
    for (int i = 0; i < kKeys; ++i) one_->run({"SET", key(i), value(i)});
  }
  EXPECT_TRUE(serving_->index->is_valid());
}

TEST_P(EachIndex, WritesAndWalksReadNoValues) {
  start();
  send_out();
  const needed before;
  EXPECT_THAT(scanned(), UnorderedElementsAreArray(all_keys()));
  EXPECT_THAT(listed(), UnorderedElementsAreArray(all_keys()));
  EXPECT_THAT(one_->ask("RANDOMKEY\r\n"), StartsWith("$"));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(one_->run({"SET", key(i), value(i)}), "+OK\r\n");
  for (int i = 100; i < 150; ++i) ASSERT_EQ(one_->run({"DEL", key(i)}), ":1\r\n");
  for (int i = 150; i < 200; i += 2) {
    ASSERT_EQ(one_->run({"UNLINK", key(i), key(i + 1), "nowhere"}), ":2\r\n");
  }
  std::vector<std::string> several{"MSET"};
  for (int i = 200; i < kKeys; ++i) several.insert(several.end(), {key(i), "new"});
  ASSERT_EQ(one_->run({"MSETNX", "nowhere", "new", key(kKeys - 1), "new"}), ":0\r\n");
  ASSERT_EQ(one_->run(several), "+OK\r\n");
  ASSERT_EQ(one_->ask("FLUSHALL\r\nDBSIZE\r\n"), "+OK\r\n:0\r\n");
  expect_none_since(before);
}

// Keys have to be read, to be told; but no thread waits for a read meanwhile.
TEST_P(EachIndex, WalksReadColdKeysWithoutAWait) {
  start();
  one_->run({"FLUSHALL"});
  std::vector<std::string> right;
  for (int i = 0; i < kKeys; ++i) {  // two on a page
    const std::string name = key(i) + std::string(1500, 'k');
    one_->run({"SET", name, value(i)});
    right.push_back(name);
  }
  for (const bool by_scan : {true, false}) {
    send_out(leaving::keys_too);
    leave_in_cold();
    const needed before;
    EXPECT_THAT(by_scan ? scanned() : listed(), UnorderedElementsAreArray(right));
    EXPECT_GT(heap::cold_reads().misses, before.misses);
    EXPECT_EQ(waited_reads(), before.waits);
  }
}

// A walk by KEYS goes on where it has missed a key, and has used the one that was read for it once,
// or twice where others of its piece came later.
TEST_P(EachIndex, KeysReadsEachKeyThatIsOutOnce) {
  const auto right = start_mixed();
  const use_counts& uses = tell_uses();
  const needed before;
  EXPECT_THAT(listed(), UnorderedElementsAreArray(right));
  EXPECT_EQ(heap::cold_reads().misses - before.misses, kOut);
  EXPECT_LE(uses.first_uses + uses.later_uses, 2 * kOut);
  EXPECT_EQ(uses.later_uses, 0);
  EXPECT_EQ(waited_reads(), before.waits);
}

// The misses of one SCAN are read at once.
TEST_P(EachIndex, ScansReadTogetherWhatIsOutHereAndThere) {
  const auto right = start_mixed();
  const needed before;
  EXPECT_THAT(scanned(std::to_string(kMixed)), UnorderedElementsAreArray(right));
  EXPECT_GE(heap::cold_reads().misses - before.misses, kOut);
  EXPECT_LT(scans_, kOut / 2);
  EXPECT_EQ(waited_reads(), before.waits);
}

// KEYS holds what was read for a piece of the walk, not for all of it, and so need not wait.
TEST_P(EachIndex, KeysMayReadMoreThanIsHeldForACommand) {
  serving_ = std::make_unique<running>(GetParam(), index::management::on);
  one_ = std::make_unique<talker>(serving_->path);
  std::vector<std::string> right;
  const std::string much(std::size_t{100} << 10, 'k');
  for (std::size_t bytes = 0; bytes < 2 * limits.noted_bytes; bytes += much.size()) {
    right.push_back(key(static_cast<int>(right.size())) + much);
    one_->run({"SET", right.back(), "value"});
  }
  send_out(leaving::keys_too);
  leave_in_cold();
  const needed before;
  EXPECT_EQ(listed().size(), right.size());
  EXPECT_EQ(heap::cold_reads().misses - before.misses, right.size()) << "none was asked for twice";
  EXPECT_EQ(waited_reads(), before.waits);
}

TEST_P(EachIndex, RandomKeysMayBeCold) {
  start();
  send_out(leaving::keys_too);
  leave_in_cold();
  const needed before;
  std::set<std::string> found;
  for (int i = 0; i < 300; ++i) {
    const auto one = words_of(one_->ask("RANDOMKEY\r\n"));
    ASSERT_EQ(one.size(), 1u);
    found.insert(one[0]);
  }
  EXPECT_GT(found.size(), 20u) << "not the same ones each time";
  EXPECT_GT(heap::cold_reads().misses, before.misses);
  EXPECT_EQ(waited_reads(), before.waits);
}

// RANDOMKEY goes on where it has missed a key, and comes to all of them, those that are out too.
TEST_P(EachIndex, RandomKeysAreOfAllPlaces) {
  const auto all = start_mixed();
  const needed before;
  std::set<std::string> found;
  for (std::size_t i = 0; i < 2 * all.size(); ++i) {
    const auto one = words_of(one_->ask("RANDOMKEY\r\n"));
    ASSERT_EQ(one.size(), 1u);
    found.insert(one[0]);
  }
  EXPECT_GT(found.size(), all.size() / 2) << "by chance 86 in 100";
  int found_out = 0;
  for (int i = 0; i < kMixed; i += kOneIn) found_out += found.contains(mixed_key(i)) ? 1 : 0;
  EXPECT_GT(found_out, kOut / 4);
  // A call reads what is out of one piece, and one time in four of one more.
  EXPECT_LT(heap::cold_reads().misses - before.misses, 3 * all.size());
  EXPECT_EQ(waited_reads(), before.waits);
}

TEST_P(EachIndex, WalksLeaveOutKeysThatTheDiskDoesNotGive) {
  start();
  send_out(leaving::keys_too);
  leave_in_cold();
  cold_disk::fail_with(EIO);
  EXPECT_THAT(scanned(), IsEmpty());
  EXPECT_EQ(one_->run({"KEYS", "*"}), "*0\r\n");
  EXPECT_EQ(one_->ask("RANDOMKEY\r\n"), "$-1\r\n");
  cold_disk::fail_with(0);
  EXPECT_THAT(scanned(), UnorderedElementsAreArray(all_keys()));
  EXPECT_EQ(one_->ask("FLUSHALL\r\nDBSIZE\r\n"), "+OK\r\n:0\r\n");
}

// A queue of reads that the system refuses is no loss: another thread than the loop's reads these
// keys, and waits for each.
TEST_P(EachIndex, WalksOverKeysThatNoQueueGivesAreRunElsewhere) {
  start();
  send_out(leaving::keys_too);
  leave_in_cold();
  const needed before;
  cold_disk::fail_reads_of_loops_with(EINVAL);
  EXPECT_THAT(listed(), UnorderedElementsAreArray(all_keys()));
  EXPECT_GT(waited_reads(), before.waits);
  EXPECT_EQ(in_dram(), 0u) << "the policy lets none come back";
  cold_disk::fail_with(0);
}

TEST_P(EachIndex, ExpiredKeysAreLeftOutAndRemovedUnread) {
  start();
  const std::int64_t now = store::now_ms();
  for (int i = 0; i < kKeys; i += 2) {
    one_->run(
        {"SET", key(i), value(i), "PXAT", std::to_string(now + (i % 4 == 0 ? 1 : 1'000'000))});
  }
  // The server's own sweep is not waited for: what it has not removed is left out.
  while (store::now_ms() <= now + 1) std::this_thread::yield();
  send_out();
  const needed before;
  std::vector<std::string> right;
  for (int i = 0; i < kKeys; ++i) {
    if (i % 4 != 0) right.push_back(key(i));
  }
  EXPECT_THAT(scanned(), UnorderedElementsAreArray(right));
  EXPECT_THAT(listed(), UnorderedElementsAreArray(right));
  for (int i = 0; i < 50; ++i) {
    const auto one = words_of(one_->ask("RANDOMKEY\r\n"));
    ASSERT_TRUE(one.size() == 1 && std::ranges::count(right, one[0]) == 1);
  }
  until([&] { return serving_->db.keys() == right.size(); });
  expect_none_since(before);
}

TEST_P(EachIndex, AReadThatFailsIsOneCommandsError) {
  start();
  send_out();
  leave_in_cold();
  cold_disk::fail_with(EIO);
  for (const auto& words : std::vector<std::vector<std::string>>{{"GET", key(1)},
                                                                 {"MGET", "nowhere", key(1)},
                                                                 {"APPEND", key(1), "x"},
                                                                 {"GETDEL", key(1)},
                                                                 {"SETNX", key(1), "x"},
                                                                 {"RENAME", key(1), "other"},
                                                                 {"EXPIRE", key(1), "100"},
                                                                 {"INCR", key(1)}}) {
    EXPECT_THAT(one_->run(words), StartsWith(kUnreadable)) << words[0];
  }
  EXPECT_GT(heap::cold_reads().failed_reads, 0u);
  EXPECT_EQ(one_->ask("SET a b\r\nGET a\r\n"), "+OK\r\n" + bulk("b"));
  EXPECT_EQ(one_->run({"SET", key(2), "new"}), "+OK\r\n");
  EXPECT_EQ(one_->run({"DEL", key(3), key(4)}), ":2\r\n");
  EXPECT_EQ(one_->run({"GET", key(2)}), bulk("new"));
  cold_disk::fail_with(0);
  EXPECT_EQ(one_->run({"GET", key(1)}), bulk(value(1)));
  EXPECT_EQ(one_->run({"GET", "other"}), "$-1\r\n");
  EXPECT_EQ(one_->run({"PTTL", key(1)}), ":-1\r\n");
  EXPECT_EQ(one_->run({"APPEND", key(1), "x"}), ":" + std::to_string(value(1).size() + 1) + "\r\n");
}

std::string test_name(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, EachIndex, testing::ValuesIn(index::names()), test_name);

}  // namespace
}  // namespace isotherm::server
