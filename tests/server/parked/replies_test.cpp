// Clients whose commands miss records that have left DRAM, and others beside them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/parked/parked.hpp"

// Stands before the C library's: counts how often a thread waits for a queue of reads.
static thread_local int waits_of_this_thread = 0;
extern "C" int poll(pollfd* watched, nfds_t count, int milliseconds) {
  ++waits_of_this_thread;
  static const auto real = reinterpret_cast<decltype(&poll)>(dlsym(RTLD_NEXT, "poll"));
  return real(watched, count, milliseconds);
}

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Parked, AnswersWhileNoThreadWaits) {
  for (const auto engine : {&cold_disk::use_best, &cold_disk::use_threads}) {
    engine();
    start();
    talker one(path());
    const auto before = heap::cold_reads();
    const std::uint64_t waits = waited_reads();
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(one.ask(get(i)), bulk(value(i))) << i;
    EXPECT_EQ(heap::cold_reads().misses - before.misses, kKeys);
    EXPECT_EQ(heap::cold_reads().reads - before.reads, kKeys);
    EXPECT_EQ(waited_reads(), waits);
    EXPECT_THAT(one.ask("INFO isotherm\r\n"), HasSubstr("\r\ncold_misses:"));
  }
}

TEST_F(Parked, StaysInColdWhereThePolicySaysSo) {
  start();
  leave_in_cold();
  talker one(path());
  const auto before = heap::cold_reads();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(one.ask(get(5)), bulk(value(5)));
  EXPECT_EQ(one.run({"GETRANGE", key(5), "0", "3"}), bulk(value(5).substr(0, 4)));
  EXPECT_EQ(heap::cold_reads().reads - before.reads, 4u);
}

TEST_F(Parked, OthersAreServedMeanwhile) {
  start_with_a_slow_disk();
  talker one(path()), other(path());
  one.send(get(0));
  until_under_way(1);
  EXPECT_EQ(other.ask("GET in\r\nSET in place\r\nINCR number\r\n"), bulk("DRAM") + "+OK\r\n:8\r\n");
  EXPECT_THAT(other.ask("INFO isotherm\r\n"), HasSubstr("cold_reads_under_way:1\r\n"));
  EXPECT_THAT(other.ask("CLIENT LIST\r\n"), HasSubstr(" flags=bU ")) << "blocked";
  EXPECT_THAT(other.ask("INFO clients\r\n"), HasSubstr("blocked_clients:1\r\n"));
  EXPECT_EQ(other.run({"SET", key(1), "new"}), "+OK\r\n");  // an old value that is out
  EXPECT_FALSE(one.has_replies());
  cold_disk::let_go();
  EXPECT_EQ(one.receive(bulk(value(0)).size()), bulk(value(0)));
}

TEST_F(Parked, APipelinesRepliesKeepTheirOrder) {
  start();
  talker one(path());
  EXPECT_EQ(one.ask("PING\r\n" + get(1) + "GET in\r\n" + get(2) + encode({"SET", key(3), "new"}) +
                    get(3) + "INCR number\r\n" + encode({"APPEND", key(1), "+"}) + get(1) +
                    encode({"DEL", key(2), key(4)}) + get(2) + get(1)),
            "+PONG\r\n" + bulk(value(1)) + bulk("DRAM") + bulk(value(2)) + "+OK\r\n" + bulk("new") +
                ":8\r\n:" + std::to_string(value(1).size() + 1) + "\r\n" + bulk(value(1) + "+") +
                ":2\r\n$-1\r\n" + bulk(value(1) + "+"));
}

// Also where a turn is over after each command that is looked at.
TEST_F(Parked, APipelinesReadsAreUnderWayTogether) {
  start_with_a_slow_disk();
  leave_in_cold();
  talker one(path());
  std::string asked, right;
  for (int i = 0; i < 20; ++i) {
    asked += get(i);
    right += bulk(value(i));
  }
  for (const std::uint64_t turn_us : {std::uint64_t{0}, kLongTurn}) {
    serving().tuning().turn_us.store_relaxed(turn_us);
    cold_disk::hold();
    one.send(asked);
    until_under_way(20);
    EXPECT_FALSE(one.has_replies());
    cold_disk::let_go();
    EXPECT_EQ(one.receive(right.size()), right);
  }
}

/// A command for each of some keys that take more pages than one.
template <class MakeCommand>
std::string for_long_keys(int count, MakeCommand command) {
  std::string all;
  for (int i = 0; i < count; ++i) all += encode(command(key(i) + std::string(100, 'k'), i));
  return all;
}
std::vector<std::string> set_a_page(const std::string& name, int i) {
  return {"SET", name, value(i)};
}
std::string times(int count, std::string_view reply) {
  std::string all;
  for (int i = 0; i < count; ++i) all += reply;
  return all;
}

// A hash table reads a key and its value at once; a skip list must know the key first. Each page of
// keys that arrives lets the commands that waited for it ask for their values, all of them at once.
TEST_F(Parked, APipelinesReadsAreUnderWayTogetherWhereKeysAreOutToo) {
  constexpr int kGets = 60;
  // The keys of the test and of start() fill no more.
  constexpr std::uint64_t kKeyPages = 6;
  cold_disk::use_threads();
  start(1, "skiplist-herlihy");
  talker one(path()), other(path());
  ASSERT_EQ(one.ask(for_long_keys(kGets, set_a_page)), times(kGets, "+OK\r\n"));
  send_out(leaving::keys_too);
  serving().tuning().turn_us.store_relaxed(kLongTurn);
  std::string right;
  for (int i = 0; i < kGets; ++i) right += bulk(value(i));
  cold_disk::hold();
  one.send(for_long_keys(
      kGets, [](const std::string& name, int) { return std::vector<std::string>{"GET", name}; }));
  until([] { return heap::cold_reads().under_way > 0; });
  std::uint64_t most = 0;
  while (const std::uint64_t under_way = heap::cold_reads().under_way) {
    most = std::max(most, under_way);
    const std::uint64_t ended = heap::cold_reads().reads;
    cold_disk::let_one_go();
    until([&] { return heap::cold_reads().reads > ended; });
    // The server's one thread serves this client once it has looked at what was read.
    for (int i = 0; i < 2; ++i) ASSERT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
  }
  EXPECT_GE(most, kGets / kKeyPages);
  EXPECT_EQ(one.receive(right.size()), right);
}

// The keys of commands that write are read together, and not what they replace.
TEST_F(Parked, APipelineOfWritesReadsItsKeysTogether) {
  constexpr int kSets = 60;
  cold_disk::use_threads();
  start();
  talker one(path());
  const std::string right = times(kSets, "+OK\r\n");
  ASSERT_EQ(one.ask(for_long_keys(kSets, set_a_page)), right);
  send_out(leaving::keys_too);
  // One look sees all: what it has found is kept until these commands have run, and no longer.
  serving().tuning().turn_us.store_relaxed(kLongTurn);
  const auto before = heap::cold_reads();
  cold_disk::hold();
  one.send(for_long_keys(kSets, [](const std::string& name, int) {
    return std::vector<std::string>{"SET", name, "new"};
  }));
  until([] { return heap::cold_reads().under_way >= 2; });
  cold_disk::let_go();
  EXPECT_EQ(one.receive(right.size()), right);
  EXPECT_LE(heap::cold_reads().read_bytes - before.read_bytes, 3 * base::kPageBytes)
      << "values are not read";
}

// A read that was started ahead and has not ended when its command's turn comes.
TEST_F(Parked, APipelineThatReadsEachRecordOnceUsesEachOnce) {
  start_with_a_slow_disk();
  auto& policy = tell_uses();
  talker one(path());
  std::string asked, right;
  for (int i = 0; i < kKeys; ++i) {
    asked += get(i);
    right += bulk(value(i));
  }
  const auto before = heap::cold_reads();
  one.send(asked);
  until_under_way(kKeys);
  cold_disk::let_go();
  EXPECT_EQ(one.receive(right.size()), right);
  EXPECT_EQ(policy.first_uses.load(), kKeys);
  EXPECT_EQ(policy.later_uses.load(), 0);
  const auto now = heap::cold_reads();
  EXPECT_EQ(now.misses - before.misses, kKeys);
  EXPECT_EQ(now.shared_reads, before.shared_reads);
  EXPECT_EQ(one.ask(get(0)), bulk(value(0)));
  EXPECT_EQ(policy.later_uses.load(), 1);
}

TEST_F(Parked, WhatIsReadForSeveralCommandsServesThemAll) {
  cold_disk::use_threads();
  serving_ = std::make_unique<running>("hash-pugh", index::management::on);
  talker one(path());
  std::string asked, right;
  for (int i = 0; i < kKeys; ++i) {  // several of them in a page
    const std::string small(700, static_cast<char>('a' + i % 26));
    ASSERT_EQ(one.run({"SET", key(i), small}), "+OK\r\n");
    asked += get(i);
    right += bulk(small);
  }
  send_out();
  auto& policy = tell_uses();
  cold_disk::hold();
  const auto before = heap::cold_reads();
  one.send(asked);
  until([&] { return heap::cold_reads().under_way > kKeys / 6; });
  cold_disk::let_go();
  EXPECT_EQ(one.receive(right.size()), right);
  EXPECT_EQ(policy.first_uses.load(), kKeys);
  EXPECT_EQ(policy.later_uses.load(), 0);
  EXPECT_LT(heap::cold_reads().reads - before.reads, kKeys / 2);
}

TEST_F(Parked, AMgetMissesAllAtOnce) {
  start_with_a_slow_disk();
  talker one(path());
  std::vector<std::string> words{"MGET", "in"};
  std::string right = "*22\r\n" + bulk("DRAM");
  for (int i = 0; i < 20; ++i) {
    words.push_back(key(i));
    right += bulk(value(i));
  }
  words.emplace_back("nowhere");
  right += "$-1\r\n";
  one.send(encode(words));
  until_under_way(20);
  cold_disk::let_go();
  EXPECT_EQ(one.receive(right.size()), right);
}

TEST_F(Parked, ClientsOfSeveralLoopsShareARead) {
  start_with_a_slow_disk(2);
  const auto before = heap::cold_reads();
  talker one(path()), other(path()), third(path());
  for (talker* each : {&one, &other, &third}) each->send(get(0));
  until([&] { return heap::cold_reads().shared_reads - before.shared_reads == 2; });
  cold_disk::let_go();
  for (talker* each : {&one, &other, &third}) {
    EXPECT_EQ(each->receive(bulk(value(0)).size()), bulk(value(0)));
  }
  EXPECT_EQ(heap::cold_reads().reads - before.reads, 1u);
}

TEST_F(Parked, MayTakeMoreThanIsHeldForOne) {
  serving_ = std::make_unique<running>("hash-pugh", index::management::on);
  talker one(path());
  const std::string large(std::size_t{3} << 20, 'l');
  std::vector<std::string> words{"MGET"};
  std::string right = "*14\r\n", pipeline;
  for (int i = 0; i < 14; ++i) {
    ASSERT_EQ(one.run({"SET", key(i), large}), "+OK\r\n");
    words.push_back(key(i));
    right += bulk(large);
    pipeline += get(i);
  }
  send_out();
  leave_in_cold();
  EXPECT_TRUE(one.run(words) == right);
  send_out();
  leave_in_cold();
  EXPECT_TRUE("*14\r\n" + one.ask(pipeline) == right);
  const std::uint64_t before = heap::cold_reads().misses;
  EXPECT_TRUE(one.ask(get(0)) == bulk(large)) << "the next one goes without waiting again";
  EXPECT_EQ(heap::cold_reads().misses - before, 1u);
}

TEST_F(Parked, ReadsAheadNoMoreThanTheDiskReadsAtOnce) {
  cold_disk::use_threads();
  start();
  talker one(path()), other(path());
  constexpr int kLarge = 60;
  const std::string large(std::size_t{1} << 20, 'l');
  std::string one_by_one;
  std::vector<std::string> together{"MGET"};
  for (int i = 0; i < kLarge; ++i) {
    ASSERT_EQ(other.run({"SET", key(i), large}), "+OK\r\n");
    one_by_one += get(i);
    together.push_back(key(i));
  }
  const std::string values = times(kLarge, bulk(large));
  for (const bool is_one_command : {false, true}) {
    send_out();
    cold_disk::hold();
    serving().tuning().turn_us.store_relaxed(is_one_command ? kLongTurn : 0);
    const std::uint64_t before = heap::cold_reads().misses;
    one.send(get(0) + (is_one_command ? encode(together) : one_by_one));
    until([] { return heap::cold_reads().under_way > 1; });
    // Each PING takes a round of the one loop, in which the look may go on.
    for (int i = 0; i < 2 * kLarge; ++i) EXPECT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
    EXPECT_LE((heap::cold_reads().misses - before) * large.size(),
              parked_command::kAheadBytes + 2 * large.size());
    cold_disk::let_go();
    const std::string head = is_one_command ? "*" + std::to_string(kLarge) + "\r\n" : "";
    const std::string right = bulk(large) + head + values;
    EXPECT_TRUE(one.receive(right.size()) == right);
  }
}

// The memory that CLIENT LIST tells of a client, the only other one, in bytes.
std::size_t held_by(talker& other, const std::string& number) {
  const std::string all = "\n" + other.ask("CLIENT LIST\r\n");
  const std::string mine = all.substr(all.find("\nid=" + number + " "));
  return std::stoul(mine.substr(mine.find(" tot-mem=") + 9));
}

TEST_F(Parked, APageIsHeldOnceHoweverOftenItIsAskedFor) {
  start_with_a_slow_disk();
  talker one(path()), other(path());
  const std::string number = number_of(one);
  const std::uint64_t before = heap::cold_reads().misses;
  std::vector<std::string> words{"MGET"};
  for (int i = 0; i < 100; ++i) words.push_back(key(i % 2));
  one.send(encode(words));
  until_under_way(2);
  until([&] { return held_by(other, number) >= 2 * base::kPageBytes; });
  EXPECT_LT(held_by(other, number), 50 * base::kPageBytes);
  EXPECT_EQ(heap::cold_reads().misses, before + 2) << "nor asked for again";
  cold_disk::let_go();
  EXPECT_EQ(one.ask(""), "*100\r\n" + times(50, bulk(value(0)) + bulk(value(1))));
}

TEST_F(Parked, HoldsNothingForAPipelineThatIsAnswered) {
  start();
  talker one(path()), other(path());
  const std::string number = number_of(one);
  std::string asked, right;
  for (int i = 0; i < 20; ++i) {
    asked += get(i);
    right += bulk(value(i));
  }
  one.send(asked + "*");  // the first byte of another command
  EXPECT_EQ(one.receive(right.size()), right);
  until([&] { return held_by(other, number) < 20 * base::kPageBytes; });
}

TEST_F(Parked, AQuestionAboutAValueLeavesItWhereItIs) {
  start();
  talker one(path());
  auto& uses = tell_uses();
  EXPECT_EQ(one.run({"OBJECT", "ENCODING", key(0)}), bulk("raw"));
  EXPECT_THAT(one.run({"MEMORY", "USAGE", key(1)}), HasSubstr(":"));
  EXPECT_EQ(one.run({"STRLEN", key(2)}), ":" + std::to_string(value(2).size()) + "\r\n");
  EXPECT_EQ(uses.returned, 0);
  const std::string first = one.run({"ISOTHERM", "LOCATE", key(3)});
  EXPECT_EQ(uses.returned, 1) << "an address is of what is in DRAM";
  EXPECT_EQ(one.run({"ISOTHERM", "LOCATE", key(3)}), first);
}

TEST_F(Parked, AnAppendWritesNothingInCold) {
  start();
  talker one(path());
  ASSERT_EQ(one.run({"APPEND", key(0), "1"}), ":" + std::to_string(value(0).size() + 1) + "\r\n");
  let_leave(leaving::values);  // it has room for more, and can be read without a wait
  ASSERT_EQ(in_dram(), 0u);
  EXPECT_EQ(one.run({"APPEND", key(0), "2"}), ":" + std::to_string(value(0).size() + 2) + "\r\n");
  EXPECT_EQ(in_dram(), 1u) << "the value lies in a new object";
  EXPECT_EQ(one.ask(get(0)), bulk(value(0) + "12"));
}

TEST_F(Parked, HoldsMemoryThatCountsAsItsClients) {
  cold_disk::use_threads();
  start();
  talker one(path()), other(path());
  const std::string large(std::size_t{1} << 20, 'l');
  std::vector<std::string> words{"MGET"};
  for (int i = 0; i < 6; ++i) {
    words.push_back("large:" + std::to_string(i));
    ASSERT_EQ(other.run({"SET", words.back(), large}), "+OK\r\n");
  }
  send_out();
  cold_disk::hold();
  EXPECT_EQ(other.ask("CONFIG SET maxmemory-clients 4mb\r\n"), "+OK\r\n");
  one.send(encode(words));
  EXPECT_EQ(one.receive_all(), "") << "it is closed";
  EXPECT_THAT(other.ask("INFO clients\r\nINFO stats\r\n"), HasSubstr("evicted_clients:1\r\n"));
  cold_disk::let_go();
  EXPECT_EQ(other.ask(get(0)), bulk(value(0)));
}

TEST_F(Parked, ACommandCountsOnce) {
  start();
  talker one(path());
  auto& hits = serving_->db.counted().hits;
  auto& misses = serving_->db.counted().misses;
  using counts = std::vector<std::uint64_t>;
  const auto count_of = [&](const std::string& commands) {
    EXPECT_EQ(one.ask("CONFIG RESETSTAT\r\n"), "+OK\r\n");
    EXPECT_THAT(one.ask(commands), Not(HasSubstr("-ERR")));
    return counts{serving().statistics.sum("commands") - 2, hits.sum(), misses.sum()};
  };
  EXPECT_EQ(count_of(get(0)), (counts{1, 1, 0}));
  EXPECT_EQ(count_of(encode({"MGET", "in", key(1), "nowhere", key(2)})), (counts{1, 3, 1}));
  EXPECT_EQ(count_of(encode({"EXISTS", "in", key(3), "nowhere", key(4)})), (counts{1, 3, 1}));
  EXPECT_EQ(count_of(encode({"GETSET", key(5), "x"})), (counts{1, 1, 0}));
  EXPECT_EQ(count_of(get(6) + get(7) + encode({"COPY", "in", key(8)})), (counts{3, 3, 0}));
}

TEST_F(Parked, ADiskThatIsSilentForAWhileHoldsUpNobodyElse) {
  start_with_a_slow_disk(2);
  constexpr int kParked = 10, kOfEach = 10;
  std::vector<std::unique_ptr<talker>> parked;
  std::vector<std::string> right(kParked);
  for (int i = 0; i < kParked; ++i) {
    std::string asked;
    for (int k = 0; k < kOfEach; ++k) {
      const int number = i * kOfEach + k;
      asked += get(number) + encode({"APPEND", key(number), "+"}) + get(number);
      right[i] += bulk(value(number)) + ":" + std::to_string(value(number).size() + 1) + "\r\n" +
                  bulk(value(number) + "+");
    }
    parked.push_back(std::make_unique<talker>(path()));
    parked.back()->send(asked);
  }
  until([] { return heap::cold_reads().under_way >= kParked; });
  talker other(path()), third(path());
  for (int i = kParked * kOfEach; i < 5 * kKeys; ++i) {
    const std::string mine = key(i);  // the first ones are out
    for (talker* each : {&other, &third}) {
      ASSERT_EQ(each->ask(encode({"SET", mine, "new"}) + encode({"GET", mine}) + "GET in\r\n"),
                "+OK\r\n" + bulk("new") + bulk("DRAM"));
    }
  }
  for (const auto& each : parked) EXPECT_FALSE(each->has_replies());
  cold_disk::let_go();
  for (int i = 0; i < kParked; ++i) ASSERT_EQ(parked[i]->receive(right[i].size()), right[i]) << i;
}

TEST_F(Parked, TheServerMayStop) {
  start_with_a_slow_disk(2);
  talker one(path()), other(path());
  one.send(get(0) + get(1));
  other.send(get(0));
  until([] { return heap::cold_reads().under_way >= 2; });
  std::thread stopping([this] { serving_.reset(); });
  EXPECT_EQ(one.receive_all(), "");
  EXPECT_EQ(other.receive_all(), "");
  cold_disk::let_go();
  stopping.join();
  EXPECT_EQ(heap::cold_reads().under_way, 0u);
}

TEST_F(Parked, TheServerStopsWithoutADiskThatDoesNotAnswer) {
  start_with_a_slow_disk(3);
  talker one(path()), other(path()), third(path());
  int i = 0;  // of pages that are far from each other
  for (talker* each : {&one, &other, &third}) each->send(get(20 * i++));
  until_under_way(3);
  waits_of_this_thread = 0;
  serving_.reset();
  // A wait lasts 100 ms or longer; each of the three readers may begin one more at its end.
  const auto of_one_loop = static_cast<int>(limits.leaves_within.count() / 100);
  EXPECT_GE(waits_of_this_thread, 1);
  EXPECT_LE(waits_of_this_thread, of_one_loop + 3) << "not as long for each loop";
  EXPECT_EQ(heap::cold_reads().under_way, 0u);
}

}  // namespace
}  // namespace isotherm::server
