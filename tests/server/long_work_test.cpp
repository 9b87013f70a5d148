// Commands that take long, and clients whose buffers take much.
#include <gmock/gmock.h>

#include <semaphore>

#include "server/serving.hpp"

namespace isotherm::server {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// How the answer to ISOTHERM COLLECT begins: names and values.
const std::string kWindow = "*" + std::to_string(2 * collector::statistic_table().size()) + "\r\n";

/// A collector whose windows end when the test says so.
class slow_management final : public idle_management {
 public:
  collector::window_statistics last_window() const override {
    if (tells_late) end.acquire();
    return {};
  }
  collector::window_statistics collect() override {
    started.release();
    end.acquire();
    return {};
  }
  heap::per_kind<heap::usage> heaps() const override {
    if (tells_late) end.acquire();
    return {};
  }

  bool tells_late = false;  ///< of heaps and windows, too
  std::counting_semaphore<> started{0};
  mutable std::counting_semaphore<> end{0};
};

class Collecting : public Serving {
 protected:
  void SetUp() override {
    options_.threads = 1;
    manager_ = &slow_;
    start();
  }
  void begin(const peer& one, std::string_view request) {
    ASSERT_EQ(::send(one.fd(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    slow_.started.acquire();
  }
  slow_management slow_;
};

TEST_F(Collecting, OthersAreServedMeanwhile) {
  peer one(path_), other(path_);
  begin(one, "PING\r\nISOTHERM COLLECT\r\nECHO later\r\nISOTHERM COLLECT\r\nECHO last\r\n");
  EXPECT_EQ(other.last_words("SET k v"), "+OK\r\n");
  EXPECT_EQ(one.receive(7), "+PONG\r\n");
  one.send("GET k\r\n");
  slow_.end.release();
  slow_.started.acquire();  // the second window: what stood before it has been run
  slow_.end.release();
  const std::string answers = one.last_words("PING");
  EXPECT_THAT(answers, StartsWith(kWindow));
  const auto later = answers.find("$5\r\nlater\r\n" + kWindow);
  ASSERT_NE(later, answers.npos) << answers;
  EXPECT_THAT(answers.substr(later), HasSubstr("$4\r\nlast\r\n$1\r\nv\r\n+PONG\r\n"));
}

// To count pages in DRAM takes long in a large store.
TEST_F(Collecting, OthersAreServedWhileHeapsAreToldOf) {
  slow_.tells_late = true;
  for (const std::string_view asked : {"ISOTHERM HEAPS", "ISOTHERM STATS", "INFO isotherm"}) {
    peer one(path_);
    one.send(std::string(asked) + "\r\nGET k\r\nQUIT\r\n");
    EXPECT_EQ(peer(path_).last_words("SET k v"), "+OK\r\n");
    slow_.end.release(2);  // INFO asks for both
    EXPECT_THAT(one.receive_all(), EndsWith("$1\r\nv\r\n+OK\r\n")) << asked;
    while (slow_.end.try_acquire()) {
    }
    EXPECT_EQ(peer(path_).last_words("DEL k"), ":1\r\n");
  }
  EXPECT_THAT(peer(path_).last_words("INFO stats"), HasSubstr("keyspace_hits:"));
}

TEST_F(Collecting, WhoLeavesMeanwhileIsNotAnsweredAndHasTheRestRun) {
  {
    const peer gone(path_);
    begin(gone, "ISOTHERM COLLECT\r\nSET k v\r\n");
  }
  EXPECT_EQ(peer(path_).last_words("PING"), "+PONG\r\n");
  slow_.end.release();
  until([&] { return server_->clients().size() == 0; });
  EXPECT_EQ(peer(path_).last_words("GET k"), "$1\r\nv\r\n") << "which it had sent";
}

TEST_F(Collecting, WhoWantsNoRepliesGetsNone) {
  peer one(path_);
  begin(one, "CLIENT REPLY SKIP\r\nISOTHERM COLLECT\r\nECHO a\r\n");
  slow_.end.release();
  EXPECT_EQ(one.receive(7), "$1\r\na\r\n");
}

TEST_F(Collecting, TheServerLeavesAfterTheWindow) {
  peer one(path_);
  begin(one, "ISOTHERM COLLECT\r\nISOTHERM COLLECT\r\n");
  std::jthread leaving([&] { server_->stop(); });
  EXPECT_EQ(one.receive_all(), "");  // closed: the loops have ended, the window has not
  slow_.end.release();
  leaving.join();
  EXPECT_FALSE(slow_.started.try_acquire());
}

TEST_F(Serving, ClientsComeAndAreServedWhileAnExpiredKeyIsReadFromASlowDisk) {
  std::binary_semaphore started{0}, end{0};
  base::atomic<int> looks{0};
  index_.before_find = [&](std::string_view key) {
    if (key != "gone" || looks.fetch_add_relaxed(1) != 0) return;  // SET itself does not look
    started.release();
    end.acquire();
  };
  options_.threads = 1;
  start();
  EXPECT_EQ(peer(path_).last_words("SET gone v PX 1\r\nSET k v"), "+OK\r\n+OK\r\n");
  started.acquire();
  EXPECT_EQ(peer(path_).last_words("GET k\r\nSET k w"), "$1\r\nv\r\n+OK\r\n");
  end.release();
  until([&] { return db_.keys() == 1; });
}

TEST_F(Serving, TheLargestClientsGoWhenAllHoldTooMuch) {
  start();
  peer greedy(path_), small(path_), kept(path_);
  const std::string half =
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$10000000\r\n" + std::string(4 << 20, 'x');
  kept.send("CLIENT NO-EVICT on\r\n");
  EXPECT_EQ(kept.receive(5), "+OK\r\n");
  kept.send(half);
  EXPECT_EQ(peer(path_).last_words("CONFIG SET maxmemory-clients 2mb"), "+OK\r\n");
  small.send("PING\r\n");
  EXPECT_EQ(small.receive(7), "+PONG\r\n");
  greedy.send_until_closed(half);  // it may go before all is sent
  EXPECT_EQ(greedy.receive_all(), "");
  EXPECT_EQ(server_->statistics.sum("evicted_clients"), 1u);
  small.send("PING\r\n");
  EXPECT_EQ(small.receive(7), "+PONG\r\n");
  kept.send(std::string(10000000 - (4 << 20), 'x') + "\r\n");
  EXPECT_EQ(kept.receive(5), "+OK\r\n");
  EXPECT_THAT(peer(path_).last_words("INFO stats"), HasSubstr("evicted_clients:1\r\n"));
}

}  // namespace
}  // namespace isotherm::server
