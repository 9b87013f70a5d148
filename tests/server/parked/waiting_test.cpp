// Commands that have to wait for reads of COLD do so on a thread of their own, and their clients
// alone wait for them.
#include <gmock/gmock.h>

#include <semaphore>

#include "index/forwarding_index.hpp"
#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t npos = std::string::npos;

/// Searches of threads that wait for reads stand still until the test lets them go on.
class gated_index final : public index::forwarding_index {
 public:
  using index::forwarding_index::forwarding_index;

  std::optional<std::string_view> find(access& inside, std::string_view key) override {
    pass(inside);
    return forwarding_index::find(inside, key);
  }
  bool contains(access& inside, std::string_view key) override {
    pass(inside);
    return forwarding_index::contains(inside, key);
  }

  static inline std::atomic<bool> is_closed{false};
  static inline std::atomic<int> waited{0};
  static inline std::atomic<std::size_t> searched{0};          ///< by threads that wait
  static inline std::atomic<std::uint64_t> waits_of_loops{0};  ///< waited_reads_here() of a loop

 private:
  static void pass(const access& inside) {
    if (!inside.waits()) {
      waits_of_loops = std::max(waits_of_loops.load(), waited_reads_here());
      return;
    }
    ++searched;
    if (!is_closed) return;
    ++waited;
    is_closed.wait(true);
  }
};

class WaitingElsewhere : public ColdServer {
 protected:
  // Values of a MiB that are together more than is held for a command.
  static inline const std::size_t kCount = (limits.noted_bytes >> 20U) + 2;

  WaitingElsewhere() {
    gated_index::waited = 0;
    talker one(path());
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(one.run({"SET", key(i), value(i)}), "+OK\r\n");
      right_ += bulk(value(i));
      all_.push_back(key(i));
    }
    EXPECT_EQ(one.run({"SET", "in", "DRAM"}), "+OK\r\n");
    send_out();
    EXPECT_EQ(one.run({"SET", "in", "DRAM"}), "+OK\r\n");
    leave_in_cold();
  }
  ~WaitingElsewhere() override { open(); }

  static std::string key(std::size_t i) { return "large:" + std::to_string(i); }
  static std::string value(std::size_t i) {
    return std::string(std::size_t{1} << 20, static_cast<char>('a' + i % 26));
  }
  /// A command on all of them.
  std::string on_all(const std::string& name) const {
    std::vector<std::string> words{name};
    words.insert(words.end(), all_.begin(), all_.end());
    return encode(words);
  }
  std::string all_values() const { return "*" + std::to_string(kCount) + "\r\n" + right_; }
  static void close() { gated_index::is_closed = true; }
  static void open() {
    gated_index::is_closed = false;
    gated_index::is_closed.notify_all();
  }
  static void until_one_waits() {
    until([] { return gated_index::waited > 0; });
  }
  static bool is_flagged(talker& other) {
    return other.ask("CLIENT LIST\r\n").find(" flags=bU ") != std::string::npos;
  }
  const std::string& path() const { return serving_.path; }

  running serving_{
      std::make_unique<gated_index>(std::move(*index::make("hash-pugh", index::management::on)))};

 private:
  std::string right_;
  std::vector<std::string> all_;
};

TEST_F(WaitingElsewhere, OthersAreServedMeanwhile) {
  close();
  talker one(path()), other(path());
  one.send(on_all("MGET") + "SET in NEW\r\n" + std::string(talker::kLast));
  until_one_waits();
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM")) << "its later commands wait as well";
  EXPECT_TRUE(is_flagged(other));
  EXPECT_THAT(other.ask("INFO clients\r\n"), HasSubstr("blocked_clients:1"));
  EXPECT_FALSE(one.has_replies());
  open();
  EXPECT_TRUE(one.replies() == all_values() + "+OK\r\n");
  EXPECT_FALSE(is_flagged(other));
}

TEST_F(WaitingElsewhere, INFOsOwnClientIsNotBlocked) {
  EXPECT_THAT(talker(path()).ask("INFO\r\n"), HasSubstr("blocked_clients:0"));
}

// Its keys are waited for before they are locked.
TEST_F(WaitingElsewhere, AWriteKeepsNobodyFromItsKeys) {
  constexpr std::size_t kKeyBytes = std::size_t{1} << 20;
  talker one(path()), other(path());
  std::vector<std::string> words{"MSET"};
  for (std::size_t i = 0; i < kCount; ++i) {
    words.push_back("long:" + std::to_string(i) + std::string(kKeyBytes, 'k'));
    ASSERT_EQ(one.run({"SET", words.back(), "value"}), "+OK\r\n");
    words.emplace_back("new");
  }
  send_out(leaving::keys_too);
  leave_in_cold();
  close();
  one.send(encode(words) + std::string(talker::kLast));
  until_one_waits();
  EXPECT_EQ(other.run({"SET", words[1], "other"}), "+OK\r\n");
  EXPECT_EQ(other.run({"GET", words[1]}), bulk("other"));
  open();
  EXPECT_EQ(one.replies(), "+OK\r\n");
  EXPECT_EQ(other.run({"GET", words[1]}), bulk("new"));
}

TEST_F(WaitingElsewhere, LoopsWaitForNoRead) {
  talker one(path());
  const std::uint64_t before = waited_reads();
  EXPECT_TRUE(one.ask(on_all("MGET") + "GET in\r\n") == all_values() + bulk("DRAM"));
  EXPECT_EQ(gated_index::waits_of_loops, 0u);
  EXPECT_GT(waited_reads(), before) << "another thread has";
}

TEST_F(WaitingElsewhere, ItCountsOnce) {
  talker one(path());
  auto& hits = serving_.db.counted().hits;
  EXPECT_EQ(one.ask("CONFIG RESETSTAT\r\n"), "+OK\r\n");
  EXPECT_TRUE(one.ask(on_all("MGET")) == all_values());
  EXPECT_EQ(serving_.serving->statistics.sum("commands"), 3u);
  EXPECT_EQ(hits.sum(), kCount);
}

TEST_F(WaitingElsewhere, RepliesAreLeftOutWhereTheClientWantsNone) {
  talker one(path());
  EXPECT_EQ(one.ask("CLIENT REPLY SKIP\r\n" + on_all("MGET") + "PING\r\n"), "+PONG\r\n");
  EXPECT_EQ(one.ask("CLIENT REPLY OFF\r\n" + on_all("MGET") + "CLIENT REPLY ON\r\n"), "+OK\r\n");
}

TEST_F(WaitingElsewhere, ALongReplyKeepsToTheClientsLimit) {
  talker other(path());
  EXPECT_EQ(other.ask("CONFIG SET client-output-buffer-limit \"normal 13mb 0 0\"\r\n"), "+OK\r\n");
  talker one(path());
  one.send(on_all("MGET") + std::string(talker::kLast));
  EXPECT_EQ(one.replies(), "(closed)");
  EXPECT_EQ(serving_.serving->statistics.sum("output_limit_disconnections"), 1u);
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
}

// Bytes that the client has not read yet count beside the reply.
TEST_F(WaitingElsewhere, ALongReplyAndWhatIsNotSentKeepToTheClientsLimit) {
  talker other(path());
  // More than the socket takes, and less than keeps the loop from the commands behind it.
  EXPECT_EQ(other.run({"SET", "much", std::string(900'000, 'm')}), "+OK\r\n");
  const std::string limit = std::to_string(all_values().size() + (std::size_t{256} << 10));
  EXPECT_EQ(other.ask("CONFIG SET client-output-buffer-limit \"normal " + limit + " 0 0\"\r\n"),
            "+OK\r\n");
  close();
  talker one(path());
  one.send("GET much\r\n" + on_all("MGET") + std::string(talker::kLast));
  until_one_waits();
  open();
  until([&] { return serving_.serving->statistics.sum("output_limit_disconnections") == 1; });
  EXPECT_TRUE(one.replies().ends_with("(closed)"));
}

TEST_F(WaitingElsewhere, TheClientMayLeave) {
  close();
  talker other(path());
  {
    talker gone(path());
    gone.send("CLIENT SETNAME gone\r\n" + on_all("MGET"));
    until_one_waits();
  }
  EXPECT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
  open();
  until([&] { return other.ask("CLIENT LIST\r\n").find("name=gone") == std::string::npos; });
  EXPECT_EQ(talker(path()).run({"STRLEN", key(0)}), ":" + std::to_string(value(0).size()) + "\r\n");
}

TEST_F(WaitingElsewhere, WhatAKilledClientHasAskedForIsNotBegun) {
  close();
  talker one(path()), killed(path()), other(path());
  const std::size_t before = gated_index::searched;
  one.send(on_all("MGET") + std::string(talker::kLast));
  until_one_waits();
  killed.send("CLIENT SETNAME killed\r\n" + on_all("MGET"));
  until([&] { return other.ask("INFO clients\r\n").find("blocked_clients:2") != npos; });
  until([] { return heap::cold_reads().under_way == 0; });  // what was held for it: it needs more
  const std::string list = other.ask("CLIENT LIST\r\n");
  const std::size_t line = list.rfind("id=", list.find(" name=killed "));
  const std::string number = list.substr(line + 3, list.find(' ', line) - line - 3);
  EXPECT_EQ(other.run({"CLIENT", "KILL", "ID", number}), ":1\r\n");
  open();
  EXPECT_TRUE(one.replies() == all_values());
  send_out();
  leave_in_cold();
  EXPECT_TRUE(other.ask(on_all("MGET")) == all_values()) << "behind the killed one's";
  // Both commands read each key twice: alone, and then in one scope with the others.
  EXPECT_EQ(gated_index::searched, before + 4 * kCount);
}

TEST_F(WaitingElsewhere, TheServerMayStop) {
  close();
  talker one(path());
  one.send(on_all("MGET"));
  until_one_waits();
  std::thread stops([this] { serving_.serving->stop(); });
  open();
  stops.join();
}

}  // namespace
}  // namespace isotherm::server
