// Bytes that the server holds for a client, and its figures of them.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>

#include "server/serving.hpp"

namespace isotherm::server {
namespace {

using ::testing::HasSubstr;

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

TEST_F(Serving, AnIdleClientHoldsNoBuffers) {
  start();
  peer one(path_);
  const std::string value(1000, 'x');
  one.send("*3\r\n" + bulk("SET") + bulk("v") + bulk(value));
  EXPECT_EQ(one.receive(5), "+OK\r\n");
  const auto client = server_->clients().all().front();
  const auto is_small = [&client] { return client->held_bytes.load_relaxed() < 1024; };
  until(is_small);
  std::string pipeline;
  for (int i = 0; i < 55; ++i) pipeline += "GET v\r\n";
  one.send(pipeline);
  EXPECT_EQ(one.receive(55 * 1009).size(), 55u * 1009);
  until(is_small);
  std::string many = "*1001\r\n" + bulk("MGET");
  for (int i = 0; i < 1000; ++i) many += bulk("v");
  one.send(many);
  EXPECT_EQ(one.receive(7 + 1000 * 1009).size(), 7u + 1000 * 1009);
  until(is_small);
  one.send("CLIENT REPLY OFF\r\nGET v\r\n");
  until([&] { return client->last.load_relaxed()->name == "get"; });
  until(is_small);
}

TEST_F(Serving, ListsOfArgumentsCountAsBuffers) {
  start();
  peer one(path_);
  constexpr std::size_t kArguments = 200'000;
  std::string request = "*100000000\r\n";
  for (std::size_t i = 0; i < kArguments; ++i) request += "$0\r\n\r\n";
  one.send(request);
  const auto client = server_->clients().all().front();
  const std::size_t lists = kArguments * 2 * sizeof(std::size_t);
  until([&] {
    return client->query_bytes.load_relaxed() == request.size() &&
           client->held_bytes.load_relaxed() >= request.size() + lists;
  });
  const std::string told = peer(path_).last_words("CLIENT LIST ID " + std::to_string(client->id));
  EXPECT_THAT(told, HasSubstr(" qbuf=" + std::to_string(request.size()) + " "));
  EXPECT_THAT(told,
              HasSubstr(" tot-mem=" + std::to_string(client->held_bytes.load_relaxed()) + " "));
  // The limit on all clients' buffers sees them too.
  server_->tuning().maxmemory_clients.store_relaxed(request.size() * 2);
  EXPECT_EQ(one.receive_all(), "");
}

TEST_F(Serving, WhoAsksSeesItsOwnRequestInTheList) {
  start();
  peer one(path_);
  const std::string_view request = "CLIENT INFO\r\n";
  one.send(request);
  const std::string told = one.receive(200);
  EXPECT_THAT(told, HasSubstr(" qbuf=" + std::to_string(request.size()) + " ")) << told;
}

TEST_F(Serving, ConnectionsAreKeptAliveAsTheParameterSays) {
  start_on_tcp();
  const tcp_peer one(server_->port());
  until([&] { return server_->clients().size() == 1; });
  const auto client = server_->clients().all().front();
  const auto option = [&client](int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(client->fd, level, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 300);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 100);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPCNT), 3);
}

TEST_F(Serving, TheSocketFileHasThePermissionsAskedFor) {
  options_.unix_socket_mode = 0640;
  start();
  struct stat facts{};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0640u);
  EXPECT_EQ(peer(path_).last_words("CONFIG GET unixsocketperm"),
            "*2\r\n$14\r\nunixsocketperm\r\n$3\r\n640\r\n");
}

}  // namespace
}  // namespace isotherm::server
