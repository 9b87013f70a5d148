// One thread with an epoll set and the connections that were given to it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "os/thread.hpp"
#include "os/wake_event.hpp"
#include "server/connection.hpp"

namespace isotherm::server {

/// start(), stop() and the destructor are for one controlling thread; adopt(), finish() and end()
/// for any thread.
class event_loop {
 public:
  explicit event_loop(server& server);
  ~event_loop();
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  /// To be called before start(): `on_ready` is called in this loop when a listening socket has a
  /// client.
  void watch_listener(int fd, std::function<bool(int fd)> on_ready);

  /// Fails where the system gives no thread.
  base::result<void> start();
  void stop();
  /// Hands over a new client.
  void adopt(std::shared_ptr<client> client);
  /// Answers a client that waits (client::waits), if it is still connected (connection::resume()).
  void finish(std::uint64_t id, std::optional<std::string> reply);
  /// Returns how many pages of a disk the loop's thread has waited for, until a tenth of a second
  /// ago: of swap, or of the program. Reads of COLD's file are none. Any thread.
  std::uint64_t major_faults() const noexcept { return major_faults_.load_relaxed(); }
  /// The engine that reads for it; "none" without a reader. Once started; any thread.
  std::string_view read_engine() const noexcept {
    return shared_.reader ? shared_.reader->engine() : "none";
  }
  /// Reply times of its clients. Any thread.
  const reply_times& times() const noexcept { return shared_.times; }
  const command_times& commands() const noexcept { return shared_.commands; }
  /// See loop_share. Any thread.
  std::uint64_t held_bytes() const noexcept { return shared_.held_bytes.load_relaxed(); }
  /// Closes a client whose client::killed is set, if it is still connected.
  void end(std::uint64_t id);

 private:
  void run();
  void wait_once();
  void take_adopted();
  void take_finished();
  void take_arrived();
  void close_ended();
  void go_on(const std::vector<std::uint64_t>& turns);
  void follow_up(connection& which);
  void give_turn(connection& which);
  void hold_writers_back();
  void handle(connection& which, std::uint32_t events);
  void answer_all();
  void watch(connection& which);         ///< after each use; it may be closed then
  void update_watch(connection& which);  ///< updates what epoll watches, or closes it
  void unwatch(connection& which);
  void close(connection& which);
  void close_idle();
  void housekeeping();
  void give_up_unanswered();
  void watch_listeners(std::uint32_t events);  ///< EPOLLIN; 0: for nothing

  server& server_;
  loop_share shared_;  // before the connections, which use it
  int epoll_;
  const os::wake_event wakeup_;
  os::thread thread_;
  base::atomic<std::uint64_t> major_faults_{0};
  base::atomic<bool> stopping_{false};
  std::mutex adopted_mutex_;
  // Guarded by it.
  std::vector<std::shared_ptr<client>> adopted_;
  std::vector<std::pair<std::uint64_t, std::optional<std::string>>> finished_;
  std::vector<std::uint64_t> ended_;

  std::unordered_map<std::uint64_t, std::unique_ptr<connection>> connections_;  // by client::id
  idle_order by_use_;
  std::unordered_map<int, std::function<bool(int)>> listeners_;
  std::vector<std::uint64_t> answered_;    // connections with replies of this round
  std::vector<std::uint64_t> unfinished_;  // whose next turn comes with the next round
  std::vector<std::uint64_t> held_;        // whose next turn comes when `room_` is off
  std::vector<std::uint64_t> released_;    // of these, whose turn comes first in the next round
  bool listeners_watched_ = true;
  std::int64_t next_tick_ms_ = 0;
};

}  // namespace isotherm::server
