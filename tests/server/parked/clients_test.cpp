// A client that is parked may do all that any client may: send more, leave, be killed.
#include <sys/socket.h>

#include <string>

#include "server/parked/parked.hpp"

namespace isotherm::server {
namespace {

constexpr auto npos = std::string::npos;

TEST_F(Parked, MaySendMoreMeanwhile) {
  start_with_a_slow_disk();
  talker one(path()), other(path());
  const std::string number = number_of(one);
  one.send(get(0) + "GET i");
  until_under_way(1);
  one.send("n\r\n" + get(1));
  one.send("SET in " + std::string(60'000, 'x') + "\r\nSTRLEN in\r\n");
  EXPECT_EQ(other.ask("PING\r\n"), "+PONG\r\n");
  EXPECT_TRUE(is_listed(number));
  cold_disk::let_go();
  EXPECT_EQ(one.ask(""), bulk(value(0)) + bulk("DRAM") + bulk(value(1)) + "+OK\r\n:60000\r\n");
}

TEST_F(Parked, MayLeave) {
  start_with_a_slow_disk();
  std::string number;
  {
    talker one(path());
    number = number_of(one);
    one.send(get(0) + get(1));
    until_under_way(2);
  }
  EXPECT_EQ(talker(path()).ask("GET in\r\n"), bulk("DRAM"));
  cold_disk::let_go();
  until([&] { return !is_listed(number); });
  until_under_way(0);
  EXPECT_EQ(talker(path()).ask(get(0)), bulk(value(0)));
}

TEST_F(Parked, WhatItHasSentIsRunWhenItHasLeft) {
  start_with_a_slow_disk();
  talker other(path());
  {
    talker one(path());
    one.send("CLIENT REPLY OFF\r\n" + encode({"APPEND", key(0), "+"}) + "SET in place\r\n" +
             encode({"APPEND", key(1), "+"}) + "SET last word\r\n");
    until_under_way(1);
  }
  EXPECT_EQ(other.ask("PING\r\n") + other.ask("GET in\r\n"), "+PONG\r\n" + bulk("DRAM"));
  cold_disk::let_go();
  until([&] { return other.ask("GET last\r\n") == bulk("word"); });
  EXPECT_EQ(other.ask(get(0) + get(1) + "GET in\r\n"),
            bulk(value(0) + "+") + bulk(value(1) + "+") + bulk("place"));
  until([&] { return other.ask("INFO clients\r\n").find("connected_clients:1\r") != npos; });
}

TEST_F(Parked, MayHaveShutItsEndAndGetsItsReply) {
  start_with_a_slow_disk();
  talker one(path());
  one.send(get(0) + get(1));
  ::shutdown(one.fd(), SHUT_WR);
  until_under_way(2);
  EXPECT_EQ(talker(path()).ask("PING\r\n"), "+PONG\r\n");
  cold_disk::let_go();
  EXPECT_EQ(one.receive_all(), bulk(value(0)) + bulk(value(1)));
}

TEST_F(Parked, MayQuitBehindIt) {
  start_with_a_slow_disk();
  talker one(path());
  one.send(get(0) + "QUIT\r\n" + get(1));
  until_under_way(2);
  cold_disk::let_go();
  EXPECT_EQ(one.receive_all(), bulk(value(0)) + "+OK\r\n");
}

TEST_F(Parked, CanBeKilled) {
  start_with_a_slow_disk();
  talker one(path()), other(path());
  const std::string number = number_of(one);
  one.send(get(0));
  until_under_way(1);
  EXPECT_EQ(other.ask("CLIENT KILL ID " + number + "\r\n"), ":1\r\n");
  EXPECT_EQ(one.receive_all(), "");
  EXPECT_FALSE(is_listed(number));
  cold_disk::let_go();
  EXPECT_EQ(other.ask(get(0)), bulk(value(0)));
}

TEST_F(Parked, GetsNoReplyWhereItWantsNone) {
  start();
  talker one(path());
  EXPECT_EQ(one.ask("CLIENT REPLY SKIP\r\n" + get(0) + "PING\r\n" + get(0)),
            "+PONG\r\n" + bulk(value(0)));
  EXPECT_EQ(one.ask("CLIENT REPLY OFF\r\n" + get(1) + "PING\r\n" + get(2) + "CLIENT REPLY ON\r\n" +
                    get(3)),
            "+OK\r\n" + bulk(value(3)));
}

TEST_F(Parked, IsNotIdle) {
  start_with_a_slow_disk();
  talker one(path()), other(path());
  one.send(get(0));
  until_under_way(1);
  EXPECT_EQ(other.ask("PING\r\nCONFIG SET timeout 1\r\n"), "+PONG\r\n+OK\r\n");
  EXPECT_EQ(other.receive_all(), "") << "it has rested for less than the parked one";
  cold_disk::let_go();
  EXPECT_EQ(one.receive(bulk(value(0)).size()), bulk(value(0)));
}

}  // namespace
}  // namespace isotherm::server
