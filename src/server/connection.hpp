// One client's socket with its buffers: reads, runs whole buffers of commands, answers them with
// one write when its turn comes (event_loop). A client that does not read its replies is not read
// from either, so that what it can make the server hold is bounded.
#pragma once

#include <memory>
#include <string>

#include "server/client.hpp"
#include "server/idle_order.hpp"
#include "server/query_buffer.hpp"
#include "server/resp_parser.hpp"

namespace isotherm::server {

/// Owned and used by one event loop.
class connection {
 public:
  connection(server& home, std::shared_ptr<client> who);
  ~connection();  ///< closes the socket
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// What epoll said; false when the connection is to be closed. Replies to what was read wait for
  /// on_writable(), which may be called at any time.
  bool on_readable();
  bool on_writable();

  /// Goes on after server::defer(): `reply` is the answer of the command that waited.
  bool resume(std::string_view reply);

  bool wants_to_read() const noexcept {
    return !who_->closing && !who_->waits && waiting() <= pause_bytes();
  }
  bool wants_to_write() const noexcept { return waiting() > 0; }
  std::uint32_t events = 0;  ///< what epoll watches now
  idle_order::place place;   ///< the loop's note of its last use
  client& who() const noexcept { return *who_; }

 private:
  static std::size_t pause_bytes() noexcept;
  std::size_t waiting() const noexcept { return output_.size() - sent_; }
  /// Runs what is in the buffer, until replies pile up.
  bool run_buffer();
  /// run_buffer() and flush(), again and again after a pause that has ended.
  bool advance();
  void run(std::span<const std::string_view> arguments);
  void dispatch(std::span<const std::string_view> arguments);
  bool flush();
  void release_output() noexcept;
  void note_memory() noexcept;

  server& home_;
  std::shared_ptr<client> who_;
  resp_parser parser_;
  query_buffer query_;
  std::string output_;
  std::size_t sent_ = 0;
  bool paused_ = false;  ///< the buffer may hold whole commands that wait (wants_to_read())
  bool mute_ = false;    ///< the command that waits gets no answer (CLIENT REPLY)
  store::reply reply_;
};

}  // namespace isotherm::server
