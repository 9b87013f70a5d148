// One event loop on its own, with events in an order that the test decides.
#include "server/event_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iterator>
#include <semaphore>
#include <string>

#include "server/server.hpp"
#include "store/fake_index.hpp"

namespace isotherm::server {
namespace {

struct socket_pair {
  socket_pair() {
    int both[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
    inside = both[0];
    outside = both[1];
    ::fcntl(inside, F_SETFL, O_NONBLOCK);
  }
  int inside, outside;
};

void send_ping(int fd) { ASSERT_EQ(::send(fd, "PING\r\n", 6, MSG_NOSIGNAL), 6); }

/// Seven bytes, or fewer when the loop closes the connection.
std::string receive_pong(int fd) {
  char text[7];
  const ssize_t got = ::recv(fd, text, sizeof text, MSG_WAITALL);
  return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
}

/// A listener of the loop whose callback holds the loop until it is told to go on.
struct gate {
  gate() : fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~gate() { ::close(fd); }
  void hold() {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    held.acquire();
  }
  bool pass() {
    std::uint64_t count;
    EXPECT_EQ(::read(fd, &count, sizeof count), static_cast<ssize_t>(sizeof count));
    held.release();
    opened.acquire();
    return true;
  }
  const int fd;
  std::binary_semaphore held{0}, opened{0};
};

// In one round: a killed client is closed, its descriptor is given to a newcomer, and then comes
// what had happened to the old client's socket, an error. The newcomer has nothing to do with it.
TEST(EventLoop, AReusedDescriptorDoesNotInheritEvents) {
  store::testing::fake_index index;
  store::database db{index, [] { return std::uint64_t{0}; }};
  server server(options{}, db, nullptr);
  gate door;
  event_loop loop(server);
  loop.watch_listener(door.fd, [&door](int) { return door.pass(); });

  const socket_pair old_pair, new_pair;
  const auto newcomer = [&](int fd) {
    ASSERT_EQ(::dup3(new_pair.inside, fd, O_CLOEXEC), fd);
    ::close(new_pair.inside);
    loop.adopt(std::make_shared<client>(server, 2, fd, "new", "new"));
  };
  // The last thing that is done when the connection is closed; by then its descriptor is free.
  std::shared_ptr<client> old(new client(server, 1, old_pair.inside, "old", "old"),
                              [&newcomer](client* gone) {
                                newcomer(gone->fd);
                                delete gone;
                              });
  loop.adopt(old);
  ASSERT_TRUE(loop.start());
  send_ping(old_pair.outside);
  EXPECT_EQ(receive_pong(old_pair.outside), "+PONG\r\n");
  send_ping(old_pair.outside);

  // While the loop is held: first what wakes it to close the killed, then the error.
  char first;
  EXPECT_EQ(::recv(old_pair.outside, &first, 1, MSG_PEEK), 1);  // the second reply has come
  door.hold();
  old->killed.store_release(true);
  loop.end(1);
  ::close(old_pair.outside);  // with a reply unread: a reset
  old.reset();
  door.opened.release();

  send_ping(new_pair.outside);
  EXPECT_EQ(receive_pong(new_pair.outside), "+PONG\r\n");
  loop.stop();
  ::close(new_pair.outside);
}

std::uint64_t replies_timed(const event_loop& loop) { return loop.times().count(); }

TEST(EventLoop, TimesEachReplyAndAPipelineAsOne) {
  store::testing::fake_index index;
  store::database db{index, [] { return std::uint64_t{0}; }};
  server server(options{}, db, nullptr);
  event_loop loop(server);
  const socket_pair pair;
  ASSERT_TRUE(loop.start());
  loop.adopt(std::make_shared<client>(server, 1, pair.inside, "one", "one"));
  send_ping(pair.outside);
  EXPECT_EQ(receive_pong(pair.outside), "+PONG\r\n");
  const std::string_view both = "PING\r\nPING\r\n";
  ASSERT_EQ(::send(pair.outside, both.data(), both.size(), MSG_NOSIGNAL), std::ssize(both));
  receive_pong(pair.outside);
  receive_pong(pair.outside);
  // The replies that are never sent are not timed, nor is what follows them timed from there on.
  const std::string_view mute = "CLIENT REPLY SKIP\r\nPING\r\n";
  ASSERT_EQ(::send(pair.outside, mute.data(), mute.size(), MSG_NOSIGNAL), std::ssize(mute));
  send_ping(pair.outside);
  EXPECT_EQ(receive_pong(pair.outside), "+PONG\r\n");
  loop.stop();
  EXPECT_EQ(replies_timed(loop), 3u);
  ::close(pair.outside);
}

// A client is listed, and so can be killed, before its loop knows it.
TEST(EventLoop, WhoIsKilledBeforeItArrivesIsClosed) {
  store::testing::fake_index index;
  store::database db{index, [] { return std::uint64_t{0}; }};
  server server(options{}, db, nullptr);
  event_loop loop(server);
  const socket_pair pair;
  const auto added = std::make_shared<client>(server, 1, pair.inside, "early", "early");
  added->killed.store_release(true);
  loop.end(added->id);
  ASSERT_TRUE(loop.start());
  loop.adopt(added);
  char text[1];
  EXPECT_EQ(::recv(pair.outside, text, sizeof text, 0), 0);
  loop.stop();
  ::close(pair.outside);
}

}  // namespace
}  // namespace isotherm::server
