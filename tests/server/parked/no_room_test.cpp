// While there is no room in DRAM for what clients write, they wait, and others do not.
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "heap/upkeep.hpp"
#include "server/parked/cold_server.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class NoRoom : public ColdServer {
 protected:
  NoRoom() {
    EXPECT_EQ(talker(path()).run({"SET", "in", "DRAM"}), "+OK\r\n");
    waits_ = heap::slowed_allocations();
    heap::allow_growth(0);
  }
  ~NoRoom() override { heap::allow_growth(heap::kUnlimitedGrowth); }

  const std::string& path() const { return serving_.path; }
  std::uint64_t waits() const { return heap::slowed_allocations() - waits_; }
  /// The one loop answers `other` while a client's command waits.
  static void until_one_waits(talker& other) {
    until([&] { return other.ask("CLIENT LIST\r\n").find(" flags=bU ") != std::string::npos; });
  }
  /// Each three of them need an extent.
  static std::string large_writes(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += encode({"SET", "large:" + std::to_string(i), std::string(300'000, 'l')});
    }
    return all;
  }

 private:
  running serving_{"hash-pugh", index::management::on};
  std::uint64_t waits_ = 0;
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
