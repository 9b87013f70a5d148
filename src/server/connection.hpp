// One client's socket with its buffers: reads, runs the commands in the buffer, and answers them
// with one write when its turn comes (event_loop). A long pipeline takes several turns, between
// which other clients have theirs.
//
// A client may write its whole pipeline before it reads a reply, so the connection reads on however
// many replies wait. Commands run only while their replies wait in less memory than the commands
// that are not yet run take: of the two the client makes the server hold the smaller. Limits of the
// client and of all clients together (settings) bound both.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "heap/upkeep.hpp"
#include "server/client.hpp"
#include "server/options.hpp"
#include "server/parked_command.hpp"
#include "server/query_buffer.hpp"
#include "server/resp_parser.hpp"
#include "server/timing/command_times.hpp"
#include "server/timing/idle_order.hpp"
#include "server/timing/reply_times.hpp"
#include "server/timing/turn.hpp"

namespace isotherm::server {

/// State that the connections of one event loop share. Owned and used by the loop's thread.
struct loop_share {
  explicit loop_share(std::size_t commands_there_are) : commands(commands_there_are) {}

  reply_times times;
  command_times commands;
  heap::room_wait room;  ///< while it is on, commands that may take memory wait
  /// Reads what commands miss; null: they wait for it.
  std::unique_ptr<heap::cold_reader> reader;
  /// Memory of clients' buffers and reads (client::held_bytes) but for those of CLIENT NO-EVICT.
  /// Any thread may read it. Relaxed: the loop's thread alone writes, and no other memory depends
  /// on the sum, so that a reader may get one of a moment ago.
  base::atomic<std::uint64_t> held_bytes{0};
};

/// Owned and used by one event loop.
class connection {
 public:
  /// `shared` outlives this.
  connection(server& server, std::shared_ptr<client> client, loop_share& shared);
  ~connection();  ///< closes the socket
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Handle what epoll reports; false when the connection is to be closed. Replies to what was read
  /// wait for on_writable(), which may be called at any time.
  bool on_readable();
  bool on_writable();

  /// Its turn ended with commands left in the buffer, which are to be run before anything else.
  bool is_unfinished() const noexcept { return is_unfinished_; }
  /// Its next command may take memory, and waits for room: go_on() tries it again.
  bool is_held() const noexcept { return is_held_; }
  /// A command waits: for room, for what it has missed, or for server::defer()'s work. What was
  /// read behind it is run also if the client goes meanwhile, until replies are to be sent.
  bool waits_to_run() const noexcept { return is_held_ || is_parked() || client_->waits; }
  /// It is to have another turn, by go_on(): is_unfinished(), or it is parked and its turn ended
  /// before it had looked at all the commands behind.
  bool wants_turn() const noexcept { return is_unfinished_ || (is_parked() && is_looking_); }
  bool go_on();

  /// Goes on after server::defer(): `reply` answers the deferred command; nullopt: it is longer
  /// than the replies of a client may be.
  bool resume(std::optional<std::string> reply);

  /// A read that this client asked for has ended: runs its parked command again, if nothing else is
  /// missing. False when the connection is to be closed.
  bool on_arrival();
  bool is_parked() const noexcept { return parked_.is_parked(); }

  bool wants_to_read() const noexcept {
    return !has_ended_ && !client_->closing && !waits_to_run();
  }
  bool wants_to_write() const noexcept { return waiting() > 0; }
  std::uint32_t events = 0;  ///< what epoll watches now
  bool awaits_turn = false;  ///< the loop is going to call go_on(), now or when there is room
  idle_order::place place;   ///< in the loop's order of last use
  client& peer() const noexcept { return *client_; }

 private:
  std::size_t waiting() const noexcept { return output_.size() - sent_; }
  /// Whether the next command of the buffer may run: not while too many replies wait.
  bool may_run() const noexcept {
    return !client_->closing && !waits_to_run() &&
           waiting() <= std::max(settings::kOutputPauseBytes, query_.size());
  }
  /// The client has sent its last byte, all commands in it have run, and their replies are sent.
  bool is_done() const noexcept {
    return has_ended_ && !wants_to_write() && !paused_ && !is_unfinished_ && !waits_to_run();
  }
  /// A client that has not given the password: it holds little memory.
  bool is_stranger() const noexcept;
  std::size_t output_limit() const noexcept;
  /// Runs the commands in the buffer, until the turn is over or too many replies wait.
  bool run_buffer();
  /// Goes on after a pause: run_buffer() and flush(), until the next pause or nothing is left.
  bool advance();
  void run(std::span<const std::string_view> arguments);
  void dispatch(std::span<const std::string_view> arguments);
  void run_resolved(const store::command& command, std::span<const std::string_view> arguments);
  void execute(const store::command& command, store::call& call);
  void reject(const store::command& command, std::string_view why);
  /// Counts the command that `reply` answers. Returns how long it took, in nanoseconds, if it ran.
  std::optional<std::uint64_t> note_answered(std::string_view reply);
  store::executed execute_here(const store::command& command, store::call& call);
  enum class elsewhere : std::uint8_t {
    waits,  ///< for pages of COLD that no read gives
    copies  ///< a large value
  };
  void run_elsewhere(const store::command& command, const store::call& call, elsewhere where,
                     std::vector<heap::arrived_reads::read> arrived = {});
  bool is_large(const store::call& call) const noexcept;
  void read_ahead(const turn& mine);
  std::chrono::microseconds turn_length() const noexcept;
  resp_parser::limits bounds() const;
  bool flush();
  void forget_sent();
  /// Whether all commands that were read are answered.
  bool is_idle() const noexcept {
    return query_.size() == 0 && !wants_to_write() && !is_parked() && !client_->waits;
  }
  void release_output() noexcept;
  void note_memory() noexcept;
  void count_memory(std::uint64_t bytes) noexcept;

  server& server_;
  std::shared_ptr<client> client_;
  loop_share& shared_;
  std::uint64_t counted_bytes_ = 0;  ///< of this connection in shared_.held_bytes
  std::uint64_t asked_ns_ = 0;       ///< when the first byte that has no reply yet was read
  resp_parser parser_;
  query_buffer query_;
  std::string output_;
  std::size_t sent_ = 0;
  bool paused_ = false;  ///< whole commands may wait in the buffer (may_run())
  bool is_unfinished_ = false, is_held_ = false;
  bool has_ended_ = false;  ///< the client sends no more; it may still read
  bool mute_ = false;       ///< the deferred command gets no reply (CLIENT REPLY)
  /// The command that runs, or waits, and when it was first run; null: it was refused before.
  const store::command* command_ = nullptr;
  std::uint64_t began_ns_ = 0;
  std::uint64_t now_ns_ = 0;  ///< when the last command was answered, or the first began
  // The command that client_->waits for:
  std::vector<std::string> deferred_arguments_;
  std::size_t lent_bytes_ = 0;  ///< memory that went with it: of the buffer, and of what was read
  bool has_lent_ = false;       ///< the buffer went, and the one that is here begins behind it
  parked_command parked_;
  /// The command at the begin of the buffer runs again, after a miss, or a wait for room.
  bool is_again_ = false;
  bool is_moved_ = false;  ///< and the parser's arguments are views of where the buffer was
  /// Bytes of the buffer up to which later commands' reads have been started, and up to which the
  /// last look at them has come.
  std::size_t read_ahead_end_ = 0, looked_to_ = 0;
  bool is_looking_ = false;  ///< that look goes on in the next turn
  store::reply reply_;
};

}  // namespace isotherm::server
