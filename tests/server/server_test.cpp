// The server in process, over a plain map: sockets, limits and the commands about connections.
#include "server/serving.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <optional>
#include <thread>
#include <utility>

namespace isotherm::server {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Stores 1,000 bytes under the key k, and the length of the reply that has them.
const std::string kSetLong =
    "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000\r\n" + std::string(1000, 'x') + "\r\n";
constexpr std::size_t kLongReplyBytes = 1000 + 9;

TEST_F(Serving, AnswersAPipelineInOrder) {
  start();
  peer one(path_);
  std::string request, expected;
  for (int i = 0; i < 10000; ++i) {
    request += "INCR n\r\n";
    expected += ":" + std::to_string(i + 1) + "\r\n";
  }
  std::jthread sender([&] { one.send(request); });
  EXPECT_EQ(one.receive(expected.size()), expected);
}

TEST_F(Serving, TellsHowLongRepliesOfTheLastSecondTook) {
  start();
  peer one(path_);
  until([&] {
    one.send("PING\r\n");
    EXPECT_EQ(one.receive(7), "+PONG\r\n");
    for (std::size_t q = 0; q < kReplyShares.size(); ++q) {
      if (server_->reply_time_us(q) == 0) return false;
    }
    return true;
  });
  const std::string told = peer(path_).last_words("INFO stats");
  for (const std::string name : {"reply_p50_us", "reply_p99_us", "reply_p999_us"}) {
    EXPECT_NE(told.find("\r\n" + name + ":"), std::string::npos) << name;
  }
}

// The arrived part of a pipeline runs in several turns, so that another client's command may run
// amid it. The two may also miss each other: the test tries until it has seen that.
TEST_F(Serving, APipelineLetsOtherClientsHaveTheirTurns) {
  options_.threads = 1;
  start();
  peer many(path_), one(path_);
  constexpr int kFirst = 1'000'000, kCommands = 2000;  // 16 kB, which the server reads at once
  std::string pipeline;
  for (int i = 0; i < kCommands; ++i) pipeline += "INCR n\r\n";
  for (int seen = 0; seen <= kFirst || seen >= kFirst + kCommands;) {
    one.send("SET n " + std::to_string(kFirst) + "\r\n");
    ASSERT_EQ(one.receive(5), "+OK\r\n");
    many.send(pipeline);
    one.send("GET n\r\n");
    const std::string reply = one.receive(std::size_t{4 + 7 + 2});
    ASSERT_THAT(reply, StartsWith("$7\r\n"));
    seen = std::stoi(reply.substr(4));
    ASSERT_EQ(many.receive(std::size_t{10} * kCommands).size(), std::size_t{10} * kCommands);
  }
}

// Models `printf ... | nc`: the end comes while the commands sent before it still run.
TEST_F(Serving, AnswersAllThatWasSentBeforeTheEnd) {
  options_.threads = 1;
  start();
  peer one(path_);
  constexpr int kFirst = 1'000'000, kCommands = 20'000;  // some reads of the server, many turns
  std::string pipeline = "SET n " + std::to_string(kFirst) + "\r\n";
  for (int i = 0; i < kCommands; ++i) pipeline += "INCR n\r\n";
  std::jthread sender([&] {
    one.send(pipeline);
    ::shutdown(one.fd(), SHUT_WR);
  });
  EXPECT_EQ(one.receive(std::size_t{1} << 20).size(), 5 + std::size_t{10} * kCommands);
}

TEST_F(Serving, AnswersAllThatWasSentBeforeTheEndThoughItIsReadLate) {
  start();
  peer one(path_);
  constexpr int kReads = 20'000;  // with far more replies than wait without a pause
  std::string pipeline = kSetLong;
  for (int i = 0; i < kReads; ++i) pipeline += "GET k\r\n";
  one.send(pipeline + "SET last 1\r\n");
  ::shutdown(one.fd(), SHUT_WR);
  const std::size_t all = 5 + kReads * kLongReplyBytes + 5;
  EXPECT_EQ(one.receive(all).size(), all);
  EXPECT_EQ(one.receive_all(), "") << "and then it is closed";
  EXPECT_EQ(peer(path_).last_words("GET last"), "$1\r\n1\r\n");
}

// Its last commands run in turns of their own, and leave nothing to send.
TEST_F(Serving, ClosesAMutedClientAtItsEnd) {
  start();
  peer one(path_);
  constexpr int kReads = 20'000, kWrites = 50'000;
  std::string pipeline = kSetLong;
  for (int i = 0; i < kReads; ++i) pipeline += "GET k\r\n";
  pipeline += "CLIENT REPLY OFF\r\n";
  for (int i = 0; i < kWrites; ++i) pipeline += "INCR n\r\n";
  one.send(pipeline);
  ::shutdown(one.fd(), SHUT_WR);
  const std::size_t all = 5 + kReads * kLongReplyBytes;
  EXPECT_EQ(one.receive(all).size(), all);
  EXPECT_EQ(one.receive_all(), "");
  EXPECT_EQ(peer(path_).last_words("GET n"), "$5\r\n50000\r\n");
}

TEST_F(Serving, SpeaksBothProtocols) {
  start();
  EXPECT_EQ(peer(path_).last_words("GET none"), "$-1\r\n");
  EXPECT_THAT(peer(path_).last_words("HELLO 3\r\nGET none"), ::testing::EndsWith("_\r\n"));
  EXPECT_THAT(peer(path_).last_words("HELLO 3"), StartsWith("%7\r\n"));
  EXPECT_EQ(peer(path_).last_words("HELLO 4"), "-NOPROTO unsupported protocol version\r\n");
}

TEST_F(Serving, AsksForThePassword) {
  options_.password = "secret";
  start();
  EXPECT_EQ(peer(path_).last_words("GET k"), "-NOAUTH Authentication required.\r\n");
  EXPECT_THAT(peer(path_).last_words("AUTH wrong"), StartsWith("-WRONGPASS"));
  EXPECT_EQ(peer(path_).last_words("AUTH secret\r\nGET k"), "+OK\r\n$-1\r\n");
  EXPECT_EQ(peer(path_).last_words("AUTH default secret"), "+OK\r\n");
  EXPECT_THAT(peer(path_).last_words("HELLO 3"), StartsWith("-NOAUTH HELLO must be called"));
  EXPECT_THAT(peer(path_).last_words("HELLO 3 AUTH default secret"), StartsWith("%7"));
}

TEST_F(Serving, CountsWrongPasswords) {
  options_.password = "secret";
  start();
  EXPECT_THAT(peer(path_).last_words("AUTH wrong\r\nAUTH other secret\r\nHELLO 3 AUTH default no"),
              HasSubstr("-WRONGPASS"));
  const std::string counted = "acl_access_denied_auth:";
  EXPECT_THAT(peer(path_).last_words("AUTH secret\r\nGET k\r\nINFO stats"),
              HasSubstr(counted + "3\r\n"));
  EXPECT_THAT(peer(path_).last_words("AUTH secret\r\nCONFIG RESETSTAT\r\nINFO stats"),
              HasSubstr(counted + "0\r\n"));
}

TEST_F(Serving, TakesNoMoreClientsThanAllowed) {
  options_.maxclients = 2;
  start();
  peer one(path_), two(path_);
  one.send("PING\r\n");
  two.send("PING\r\n");
  EXPECT_EQ(one.receive(7), "+PONG\r\n");
  EXPECT_EQ(two.receive(7), "+PONG\r\n");
  EXPECT_EQ(peer(path_).receive_all(), "-ERR max number of clients reached\r\n");
}

TEST_F(Serving, AStrangerWhoDoesNotReadIsClosedSoon) {
  options_.password = "secret";
  start();
  peer stranger(path_), other(path_);
  std::string pings;
  for (int i = 0; i < 500'000; ++i) pings += "PING\r\n";
  EXPECT_LT(stranger.send_until_closed(pings), pings.size());
  until([&] { return server_->statistics.sum("output_limit_disconnections") == 1; });
  // It has sent less than the sockets hold: what the server holds for it is bounded.
  EXPECT_EQ(other.last_words("AUTH secret\r\nPING"), "+OK\r\n+PONG\r\n");
}

TEST_F(Serving, AClientMayWriteAllItsRequestsBeforeItReads) {
  start();
  peer one(path_);
  one.send(kSetLong);
  EXPECT_EQ(one.receive(5), "+OK\r\n");
  // Requests that no socket holds, with a hundred times as many bytes of replies.
  constexpr int kRequests = 300'000;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) requests += "GET k\r\n";
  one.send(requests);
  const auto client = server_->clients().all().front();
  EXPECT_LE(client->output_bytes.load_relaxed(), requests.size() + 2 * kLongReplyBytes);
  std::string held;
  for (std::size_t left = kRequests * kLongReplyBytes; left > 0; left -= held.size()) {
    held = one.receive(std::min(left, std::size_t{1} << 20));
    ASSERT_GT(held.size(), 0u);
  }
}

TEST_F(Serving, ShortRepliesToLongRequestsAreMadeThoughNobodyReads) {
  start();
  peer one(path_);
  constexpr std::size_t kPings = settings::kOutputPauseBytes / 7 + 100'000;
  std::string requests;
  for (std::size_t i = 0; i < kPings; ++i) requests += "PING\r\n";
  for (int i = 0; i < 20'000; ++i) requests += kSetLong;  // longer than all replies before it
  one.send(requests);
  until([&] { return db_.keys() == 1; });
}

TEST_F(Serving, AClientThatDoesNotReadIsClosedAtItsLimit) {
  start();
  server_->tuning().output_hard_limit.store_relaxed(std::size_t{2} << 20);
  peer one(path_), other(path_);
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$1000\r\n" + std::string(1000, 'x') + "\r\n";
  std::string requests;
  for (int i = 0; i < 20'000; ++i) requests += echo;
  EXPECT_LT(one.send_until_closed(requests), requests.size());
  until([&] { return server_->statistics.sum("output_limit_disconnections") == 1; });
  EXPECT_EQ(other.last_words("PING"), "+PONG\r\n");
}

TEST_F(Serving, AClientThatDoesNotReadHoldsFewReplies) {
  start();
  peer slow(path_), other(path_);
  const std::string value(100000, 'x');
  other.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n" + value + "\r\n");
  EXPECT_EQ(other.receive(5), "+OK\r\n");
  // 2000 x 100 kB of replies; the server must hold about a megabyte of them, not all.
  std::string request;
  for (int i = 0; i < 2000; ++i) request += "GET k\r\n";
  slow.send(request);
  other.send("PING\r\n");
  EXPECT_EQ(other.receive(7), "+PONG\r\n");
  std::size_t most = 0;
  for (const auto& client : server_->clients().all()) {
    most = std::max(most, client->output_bytes.load_relaxed());
  }
  EXPECT_LE(most, settings::kOutputPauseBytes + 2 * value.size());
  const std::size_t total = 2000 * (value.size() + 11);
  EXPECT_EQ(slow.receive(total).size(), total);
}

TEST_F(Serving, AFloodOfRequestsEndsItsSender) {
  start();
  server_->tuning().query_buffer_limit.store_relaxed(1 << 20);
  peer flooding(path_), other(path_);
  flooding.send("*2\r\n$3\r\nGET\r\n$536870912\r\n");
  const std::string piece(1 << 16, 'x');
  bool closed = false;
  for (int i = 0; i < 1000 && !closed; ++i) {
    closed = ::send(flooding.fd(), piece.data(), piece.size(), MSG_NOSIGNAL) < 0;
  }
  EXPECT_TRUE(closed);
  other.send("PING\r\n");
  EXPECT_EQ(other.receive(7), "+PONG\r\n");
}

TEST_F(Serving, ProtocolErrorsCloseTheConnection) {
  start();
  peer one(path_);
  one.send("PING\r\n*1\r\n!\r\nPING\r\n");
  EXPECT_EQ(one.receive_all(), "+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n");
}

TEST_F(Serving, ClientsKnowOfEachOther) {
  start();
  peer one(path_), two(path_);
  one.send("CLIENT SETNAME first\r\n");
  EXPECT_EQ(one.receive(5), "+OK\r\n");
  EXPECT_THAT(peer(path_).last_words("CLIENT LIST"), HasSubstr("name=first"));
  EXPECT_EQ(peer(path_).last_words("CLIENT KILL ID 1"), ":1\r\n");
  EXPECT_EQ(one.receive_all(), "");
}

// The first loop accepts; who kills is a client of the second.
TEST_F(Serving, ClientsCanBeKilledWhileTheyArrive) {
  start();
  peer first(path_);
  first.send("PING\r\n");
  EXPECT_EQ(first.receive(7), "+PONG\r\n");
  peer killer(path_);
  const auto kill_all = [&killer] {
    killer.send("CLIENT REPLY SKIP\r\nCLIENT KILL TYPE normal\r\nPING\r\n");
    EXPECT_EQ(killer.receive(7), "+PONG\r\n");
  };
  base::atomic<bool> all_arrived{false};
  const std::jthread arrivals([&] {
    for (int i = 0; i < 300; ++i) const peer one(path_);
    all_arrived.store_release(true);  // the load below ends the loop, no more
  });
  do {  // once also where all have arrived before this thread comes to it
    kill_all();
  } while (!all_arrived.load_acquire());
  EXPECT_EQ(first.receive_all(), "");
  until([&] { return server_->clients().size() == 1; });
}

TEST_F(Serving, NothingOfARefusedTransactionRuns) {
  start();
  const std::string refused =
      "-ERR MULTI is refused: this server has no transactions; send the commands without it\r\n";
  const std::string not_run =
      "-ERR not run: MULTI was refused, as there are no transactions; EXEC or DISCARD ends its "
      "commands\r\n";
  const std::string aborted = "-EXECABORT Transaction discarded because of previous errors.\r\n";
  EXPECT_EQ(peer(path_).last_words("MULTI\r\nSET k v\r\nFLUSHALL\r\nEXEC\r\nGET k"),
            refused + not_run + not_run + aborted + "$-1\r\n");
  EXPECT_EQ(peer(path_).last_words("MULTI\r\nMULTI\r\nSET k v\r\nDISCARD\r\nGET k"),
            refused + refused + not_run + "-ERR DISCARD without MULTI\r\n$-1\r\n");
  EXPECT_EQ(peer(path_).last_words("MULTI\r\nSET k v\r\nRESET\r\nGET k"),
            refused + not_run + "+RESET\r\n$-1\r\n");
  EXPECT_EQ(peer(path_).last_words("EXEC\r\nDISCARD\r\nSET k v\r\nGET k"),
            "-ERR EXEC without MULTI\r\n-ERR DISCARD without MULTI\r\n+OK\r\n$1\r\nv\r\n");
}

TEST_F(Serving, RepliesCanBeTurnedOff) {
  start();
  EXPECT_EQ(
      peer(path_).last_words(
          "CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nCLIENT REPLY SKIP\r\nPING\r\nECHO a"),
      "+OK\r\n$1\r\na\r\n");
  // A second SKIP skips one more, and ON has a reply even behind a SKIP, as in Redis.
  EXPECT_EQ(peer(path_).last_words("CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING\r\nECHO a"),
            "$1\r\na\r\n");
  EXPECT_EQ(peer(path_).last_words("CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nECHO a"),
            "+OK\r\n$1\r\na\r\n");
  EXPECT_EQ(peer(path_).last_words("CLIENT REPLY OFF\r\nCLIENT REPLY SKIP\r\nPING\r\nPING"), "");
}

TEST_F(Serving, ClosesAlsoWithoutALastWord) {
  start();
  EXPECT_EQ(peer(path_).last_words("CLIENT REPLY OFF\r\nPING"), "");
  EXPECT_EQ(peer(path_).last_words("PING\r\nPOST / HTTP/1.1\r\nPING"), "");
}

TEST_F(Serving, WhoReadsRepliesIsNotIdle) {
  start();
  peer slow(path_);
  const std::string value(100000, 'x');
  slow.send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n" + value + "\r\n");
  EXPECT_EQ(slow.receive(5), "+OK\r\n");
  const auto client = server_->clients().all().front();
  std::string request;
  for (int i = 0; i < 200; ++i) request += "GET k\r\n";
  slow.send(request);  // one read of the server; replies pile up
  until([&] { return client->output_bytes.load_relaxed() > 0; });
  client->active_ms.store_relaxed(0);
  EXPECT_EQ(slow.receive(200 * 100011).size(), 200u * 100011);
  until([&] { return client->active_ms.load_relaxed() != 0; });
}

TEST_F(Serving, AFullQueueOfClientsIsALiveServer) {
  const int busy = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* where = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(busy, where, sizeof address), 0);
  ASSERT_EQ(::listen(busy, 0), 0);
  std::vector<int> waiting;
  for (int answer = 0; answer == 0;) {
    waiting.push_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    answer = ::connect(waiting.back(), where, sizeof address);
  }
  const auto refused = listener::on_unix(path_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("another server listens on"));
  for (const int fd : waiting) ::close(fd);
  ::close(busy);
  std::filesystem::remove(path_);
}

// One leaves while the next waits for its place: the file is the next one's when it has come. The
// moments are mixed: with a file that went last one in 30 to 120 was lost.
TEST_F(Serving, WhoLeavesTakesNoFileOfTheNextServer) {
  for (int turn = 0; turn < 300; ++turn) {
    auto made = listener::on_unix(path_);
    ASSERT_TRUE(made) << made.error().message;
    std::optional<listener> first(std::move(*made)), next;
    std::latch tries(2);
    std::jthread waiting([&] {
      tries.arrive_and_wait();
      const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (!next && std::chrono::steady_clock::now() < patience) {
        if (auto own = listener::on_unix(path_)) next.emplace(std::move(*own));
      }
    });
    tries.arrive_and_wait();
    for (std::atomic<int> k = 0; k < turn * 37 % 5'000; ++k) {
    }
    first.reset();
    waiting.join();
    ASSERT_TRUE(next) << "turn " << turn;
    ASSERT_TRUE(std::filesystem::exists(path_)) << "turn " << turn;
  }
}

TEST_F(Serving, AllAddressesOfBothFamilies) {
  auto four = listener::on_tcp("0.0.0.0", 0);
  ASSERT_TRUE(four) << four.error().message;
  const auto six = listener::on_tcp("::", four->port());
  EXPECT_TRUE(six) << six.error().message;
}

TEST_F(Serving, ACommandWithoutMemoryFailsAlone) {
  start();
  peer one(path_);
  index_.throw_from_now_on();
  one.send("GET a\r\nPING\r\n");
  const std::string answer = "-OOM no memory for what the command needs\r\n+PONG\r\n";
  EXPECT_EQ(one.receive(answer.size()), answer);
}

TEST_F(Serving, ASocketFileInUseIsRefusedAndAStaleOneReplaced) {
  start();
  server second(options_, db_, nullptr);
  const auto refused = second.start();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("another server listens on"));
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(Serving, TellsWhereValuesLie) {
  start();
  EXPECT_EQ(peer(path_).last_words("SET here treasure"), "+OK\r\n");
  const std::string told = peer(path_).last_words("ISOTHERM LOCATE nowhere here");
  const std::string head = "*2\r\n$-1\r\n*2\r\n:";
  ASSERT_THAT(told, AllOf(StartsWith(head), EndsWith("\r\n:8\r\n")));
  const auto address = std::stoull(told.substr(head.size()));
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(address), 8), "treasure");
  EXPECT_EQ(db_.counted().hits.sum() + db_.counted().misses.sum(), 0u);
}

TEST_F(Serving, SaysThatNothingIsPersisted) {
  start();
  EXPECT_THAT(peer(path_).last_words("INFO persistence"), HasSubstr("persistence:none"));
  EXPECT_THAT(peer(path_).last_words("CONFIG SET save \"900 1\""),
              StartsWith("-ERR CONFIG SET failed (possibly related to argument 'save')"));
  EXPECT_EQ(peer(path_).last_words("CONFIG SET save \"\" appendonly no"), "+OK\r\n");
  EXPECT_EQ(peer(path_).last_words("CONFIG GET save"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_THAT(peer(path_).last_words("ISOTHERM HEAPS"), StartsWith("-ERR management is off"));
}

}  // namespace
}  // namespace isotherm::server
