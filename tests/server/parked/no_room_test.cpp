// While there is no room in DRAM for what clients write, they wait, and others do not.
#include <gmock/gmock.h>

#include <functional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heap/upkeep.hpp"
#include "index/forwarding_index.hpp"
#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Pair;

/// Tells the test before a record is looked for, and before one is written.
class told_index final : public index::forwarding_index {
 public:
  using told = std::function<void(std::string_view key)>;
  told_index(told before_find, told before_write)
      : forwarding_index(std::move(*index::make("hash-pugh", index::management::on))),
        before_find_(std::move(before_find)),
        before_write_(std::move(before_write)) {}

  std::optional<std::string_view> find(access& inside, std::string_view key) override {
    before_find_(key);
    return forwarding_index::find(inside, key);
  }
  index::outcome upsert(access& inside, std::string_view key,
                        const index::content& value) override {
    before_write_(key);
    return forwarding_index::upsert(inside, key, value);
  }
  index::outcome update(access& inside, std::string_view key,
                        const index::updater& decide) override {
    before_write_(key);
    return forwarding_index::update(inside, key, decide);
  }

 private:
  const told before_find_, before_write_;
};

class NoRoom : public ColdServer {
 protected:
  NoRoom() { start(); }
  ~NoRoom() override { heap::allow_growth(heap::kUnlimitedGrowth); }

  /// One loop, for whose writers there is no room.
  void start() {
    heap::allow_growth(heap::kUnlimitedGrowth);
    serving_ = std::make_unique<running>(
        std::make_unique<told_index>([this](std::string_view key) { stand(key); },
                                     [this](std::string_view key) {
                                       if (notes_) writes_.emplace_back(key, waits());
                                     }));
    EXPECT_EQ(talker(path()).run({"SET", "in", "DRAM"}), "+OK\r\n");
    allow_nothing();
  }
  void allow_nothing() {
    EXPECT_EQ(talker(path()).ask(large_write("fills an extent")), kWritten);
    waits_ = heap::slowed_allocations();
    heap::allow_growth(0);
  }
  const std::string& path() const { return serving_->path; }
  std::uint64_t waits() const { return heap::slowed_allocations() - waits_; }
  /// The one loop answers `other` while a client's command waits.
  static void until_one_waits(talker& other) {
    until([&] { return other.ask("CLIENT LIST\r\n").find(" flags=bU ") != std::string::npos; });
  }
  /// Returns commands that write, of which any three need an extent.
  static std::string large_writes(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += encode({"SET", "large:" + std::to_string(i), std::string(300'000, 'l')});
    }
    return all;
  }
  /// A short command that needs an extent.
  static std::string large_write(const std::string& key) {
    return encode({"SETRANGE", key, "900000", "l"});
  }
  static inline const std::string kWritten = ":900001\r\n";

  std::uint64_t counted_commands() const { return serving_->serving->statistics.sum("commands"); }
  /// The keys that are written from now on, with the waits that had ended before.
  const std::vector<std::pair<std::string, std::uint64_t>>& note_writes() {
    notes_ = true;
    return writes_;
  }
  /// Makes the loop stand still in a command of `client` until the result is called: what is sent
  /// meanwhile it learns of at once.
  std::function<void()> stop_loop(talker& client) {
    client.send("GET stop\r\n");
    stands_.acquire();
    return [this, &client] {
      goes_on_.release();
      EXPECT_EQ(client.receive(5), "$-1\r\n");
    };
  }

 private:
  void stand(std::string_view key) {
    if (key != "stop") return;
    stands_.release();
    goes_on_.acquire();
  }

  std::uint64_t waits_ = 0;
  std::atomic<bool> notes_{false};
  std::vector<std::pair<std::string, std::uint64_t>> writes_;
  std::binary_semaphore stands_{0}, goes_on_{0};
  std::unique_ptr<running> serving_;
};

TEST_F(NoRoom, WritersWaitAndReadersDoNot) {
  constexpr int kWrites = 60;
  std::string replies;
  std::thread writes(
      [this, &replies] { replies = talker(path()).ask(large_writes(kWrites) + "GET in\r\n"); });
  talker reader(path());
  until_one_waits(reader);
  EXPECT_EQ(reader.ask("GET in\r\n"), bulk("DRAM"));
  until([this] { return waits() > 0; });
  heap::allow_growth(heap::kUnlimitedGrowth);
  writes.join();
  std::string right;
  for (int i = 0; i < kWrites; ++i) right += "+OK\r\n";
  EXPECT_EQ(replies, right + bulk("DRAM")) << "in the order of the commands";
}

TEST_F(NoRoom, WhoComesInTheSameRoundWaitsAsWell) {
  talker first(path()), second(path()), stops(path());
  const auto& waited = note_writes();
  const std::uint64_t commands = counted_commands();
  const auto go_on = stop_loop(stops);
  first.send(large_write("first"));
  second.send(large_write("second"));
  go_on();
  EXPECT_EQ(first.receive(kWritten.size()) + second.receive(kWritten.size()), kWritten + kWritten);
  EXPECT_THAT(waited, ElementsAre(Pair(_, 0), Pair(_, Ge(1u)))) << "the first has taken the room";
  EXPECT_EQ(counted_commands() - commands, 3u);
}

TEST_F(NoRoom, WhoWaitsIsAnsweredAsItWants) {
  talker one(path());
  const auto& waited = note_writes();
  EXPECT_THAT(
      one.ask(large_write("first") + "CLIENT REPLY SKIP\r\n" + large_write("second") + "MULTI\r\n" +
              large_write("third") + "EXEC\r\n"),
      MatchesRegex(kWritten +
                   "-ERR MULTI is refused[^\r]*\r\n-ERR not run[^\r]*\r\n-EXECABORT[^\r]*\r\n"));
  EXPECT_THAT(waited, ElementsAre(Pair("first", 0), Pair("second", Ge(1u))));
}

TEST_F(NoRoom, WhoseRecordHasArrivedWaitsAsWell) {
  cold_disk::use_threads();
  start();  // with a reader that can be held
  talker first(path()), second(path()), stops(path());
  heap::allow_growth(heap::kUnlimitedGrowth);
  for (const std::string_view name : {"first", "second"}) {
    ASSERT_EQ(stops.run({"SET", std::string(name), std::string(3000, 'v')}), "+OK\r\n");
  }
  send_out();
  allow_nothing();
  cold_disk::hold();
  first.send(large_write("first"));
  second.send(large_write("second"));
  until([] { return heap::cold_reads().under_way == 2; });
  const auto& waited = note_writes();
  const auto go_on = stop_loop(stops);
  cold_disk::let_go();
  go_on();
  EXPECT_EQ(first.receive(kWritten.size()) + second.receive(kWritten.size()), kWritten + kWritten);
  EXPECT_THAT(waited, ElementsAre(Pair(_, 0), Pair(_, Ge(1u))));
}

// Else new commands could take what room there is again and again.
TEST_F(NoRoom, WhoHasWaitedGoesBeforeNewCommands) {
  talker first(path()), waits_long(path()), is_new(path()), stops(path());
  const auto& waited = note_writes();
  first.send(large_write("first"));
  EXPECT_EQ(first.receive(kWritten.size()), kWritten);
  waits_long.send(large_write("second"));
  until_one_waits(stops);
  const auto go_on = stop_loop(stops);
  heap::allow_growth(heap::kUnlimitedGrowth);  // the wait is over with this round
  is_new.send(large_write("third"));
  go_on();
  EXPECT_EQ(is_new.receive(kWritten.size()), kWritten);
  EXPECT_THAT(waited, ElementsAre(Pair("first", _), Pair("second", _), Pair("third", _)));
}

/// A client that writes, until it goes.
class writer {
 public:
  writer(const std::string& path, const std::string& writes) : one_(path) {
    EXPECT_EQ(one_.run({"CLIENT", "SETNAME", "writes"}), "+OK\r\n");
    const std::string told = one_.ask("CLIENT ID\r\n");
    number = told.substr(1, told.size() - 3);
    sends_ = std::thread([this, writes] { one_.send_until_closed(writes); });
  }
  ~writer() {
    ::shutdown(one_.fd(), SHUT_RDWR);
    sends_.join();
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  static bool is_listed(talker& other) {
    return other.ask("CLIENT LIST\r\n").find("name=writes ") != std::string::npos;
  }
  std::string number;

 private:
  talker one_;
  std::thread sends_;
};
constexpr int kMany = 200;

TEST_F(NoRoom, WhatTakesNoMemoryDoesNotWait) {
  talker other(path());
  const writer one(path(), large_writes(kMany));
  std::uint64_t before = 0;
  do {  // until no wait has ended meanwhile
    until_one_waits(other);
    before = waits();
    EXPECT_EQ(other.ask("GET in\r\nDEL nothing\r\nGETDEL nothing\r\nUNLINK nothing\r\n"),
              bulk("DRAM") + ":0\r\n$-1\r\n:0\r\n");
    EXPECT_EQ(other.ask("MSETNX\r\n").substr(0, 4), "-ERR") << "nor what is refused";
  } while (waits() != before);
}

TEST_F(NoRoom, WhatCopiesARecordWaitsAsWell) {
  talker other(path());
  const writer one(path(), large_writes(kMany));
  for (const std::string_view copies :
       {"EXPIRE in 100\r\n", "GETEX in EX 50\r\n", "RENAME in in\r\n", "PERSIST in\r\n"}) {
    for (bool was_held = false; !was_held;) {
      talker blocked(path());
      until_one_waits(other);
      blocked.send(std::string(copies).append(talker::kLast));
      until([&] {
        was_held = other.ask("INFO clients\r\n").find("blocked_clients:2") != std::string::npos;
        return was_held || blocked.has_replies();
      });
      EXPECT_THAT(blocked.replies(), Not(HasSubstr("-ERR")));
    }
  }
}

TEST_F(NoRoom, WhatWasReadOfAClientThatHasGoneIsRun) {
  talker other(path());
  const auto blocker = std::make_unique<writer>(path(), large_writes(kMany));
  until_one_waits(other);
  {
    talker gone(path());
    gone.send("CLIENT REPLY OFF\r\nSET last 1\r\nINCR last\r\nINCR last\r\n");
  }
  until([&] { return other.ask("GET last\r\n") == bulk("3"); });
}

TEST_F(NoRoom, WhoWaitsMayLeave) {
  talker other(path());
  {
    const writer one(path(), large_writes(kMany));
    until_one_waits(other);
  }
  until([&] { return !writer::is_listed(other); });
  EXPECT_EQ(other.ask("GET in\r\n"), bulk("DRAM"));
}

TEST_F(NoRoom, WhoWaitsMayBeKilled) {
  talker other(path());
  const writer one(path(), large_writes(kMany));
  until_one_waits(other);
  EXPECT_EQ(other.run({"CLIENT", "KILL", "ID", one.number}), ":1\r\n");
  until([&] { return !writer::is_listed(other); });
}

}  // namespace
}  // namespace isotherm::server
