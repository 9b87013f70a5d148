// A server in process over a plain map, and clients that talk to it.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "server/server.hpp"
#include "store/fake_index.hpp"

namespace isotherm::server {

/// A blocking client over a Unix socket.
class peer {
 public:
  explicit peer(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~peer() { ::close(fd_); }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  void send(std::string_view text) { ASSERT_EQ(send_until_closed(text), text.size()); }
  /// Sends as much of `text` as the server takes before it closes, and returns its length.
  std::size_t send_until_closed(std::string_view text) {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t put = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (put <= 0) break;
      sent += static_cast<std::size_t>(put);
    }
    return sent;
  }
  /// Exactly `bytes`, or fewer when the server closes.
  std::string receive(std::size_t bytes) {
    std::string text(bytes, 0);
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t more = ::recv(fd_, text.data() + got, bytes - got, 0);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    text.resize(got);
    return text;
  }
  /// All that comes until the server closes.
  std::string receive_all() { return receive(std::size_t{1} << 16); }
  /// Sends a line with QUIT behind it and returns all replies but QUIT's.
  std::string last_words(std::string_view line) {
    send(std::string(line) + "\r\nQUIT\r\n");
    std::string text = receive_all();
    if (text.ends_with("+OK\r\n")) text.resize(text.size() - 5);
    return text;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// A connection over TCP that says nothing.
class tcp_peer {
 public:
  explicit tcp_peer(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~tcp_peer() { ::close(fd_); }
  tcp_peer(const tcp_peer&) = delete;
  tcp_peer& operator=(const tcp_peer&) = delete;

 private:
  int fd_;
};

/// A collector that does nothing.
class idle_management : public management {
 public:
  std::string mode() const override { return "on"; }
  collector::window_statistics last_window() const override { return {}; }
  collector::window_statistics collect() override { return {}; }
  std::string problem() const override { return {}; }
  void report_problem() override { ++reports; }
  bool refuses_growth() const noexcept override { return false; }
  std::uint64_t memory_target_bytes() const override { return 0; }
  std::uint64_t refused_cold_objects() const override { return 0; }
  heap::per_kind<heap::usage> heaps() const override { return {}; }
  std::vector<std::pair<std::string, std::string>> configuration() const override { return {}; }
  base::result<void> configure(std::string_view, std::string_view) override { return {}; }

  std::atomic<int> reports{0};
};

/// Waits for what must come; without it the test never ends.
inline void until(const std::function<bool()>& happened) {
  while (!happened()) std::this_thread::yield();
}

class Serving : public ::testing::Test {
 protected:
  void start() {
    options_.bind.clear();
    options_.unix_socket = path_;
    start_as_chosen();
  }
  void start_on_tcp() {
    options_.port = 0;
    start_as_chosen();
  }
  void start_as_chosen() {
    server_ = std::make_unique<server>(options_, db_, manager_);
    const auto started = server_->start();
    ASSERT_TRUE(started) << started.error().message;
  }
  void TearDown() override {
    server_.reset();
    EXPECT_FALSE(std::filesystem::exists(path_));
  }

  options options_;
  management* manager_ = nullptr;
  std::string path_ = std::filesystem::temp_directory_path() /
                      ("isotherm-test-" + std::to_string(::getpid()) + ".sock");
  store::testing::fake_index index_;
  store::database db_{index_, [] { return std::uint64_t{0}; }};
  std::unique_ptr<server> server_;
};

}  // namespace isotherm::server
