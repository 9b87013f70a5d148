// One client's socket with its buffers: reads, runs the commands in the buffer, and answers them
// with one write when its turn comes (event_loop). A long pipeline takes several turns, between
// which other clients have theirs.
//
// A client may write its whole pipeline before it reads a reply, so the connection reads on however
// many replies wait. Commands run only while their replies wait in less memory than the commands
// that are not yet run take: of the two the client makes the server hold the smaller. Limits of the
// client and of all clients together (settings) bound both.
//
// The connection is in one state at a time, by what the next command in its buffer waits for:
//
//   state      the command waits for    event                                   next state
//   reading    its last byte            bytes arrive                            running
//   running    nothing                  the dialogue ends (QUIT, no RESP)       closing
//                                       the command goes to server::defer()     deferred
//                                       the command misses objects of COLD      parked
//                                       the command needs room, and none is     held
//                                       the turn is over                        turn_over
//                                       too many replies wait                   paused
//                                       no whole command is left                reading
//   rerunning  nothing: it waited       the command is answered                 running
//              and runs again           another event of `running`              as from `running`
//   turn_over  the next turn            go_on()                                 running
//   paused     the client's reading     replies are sent, or bytes arrive       running
//   held       room in memory           go_on()                                 rerunning
//   parked     its reads of COLD        on_arrival() of the last of them        rerunning
//   deferred   work on another thread   resume(), and bytes are in the buffer   running
//                                       resume(), and the buffer is empty       reading
//   closing    no event: never runs     the replies are sent                    closed
//
// The upper one of several events counts. run_buffer() enters `running` or `rerunning`, and leaves
// it before it returns. Bytes are read from the socket in `reading`, `paused` and `turn_over`; in
// `turn_over` the event loop gives the client its turn first.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
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

  /// Handle the events that epoll reports; false when the connection is to be closed. Replies to
  /// what was read wait for on_writable(), which may be called at any time. on_readable() requires
  /// wants_to_read().
  bool on_readable();
  bool on_writable();

  /// Its turn ended with commands left in the buffer, which are to be run before anything else.
  bool is_unfinished() const noexcept { return state_ == state::turn_over; }
  /// Its next command may take memory, and waits for room: go_on() tries it again.
  bool is_held() const noexcept { return state_ == state::held; }
  bool is_parked() const noexcept { return state_ == state::parked; }
  /// A command waits: for room, for what it has missed, or for server::defer()'s work. The commands
  /// read behind it run even if the client goes meanwhile, until replies are to be sent.
  bool waits_to_run() const noexcept {
    return is_held() || is_parked() || state_ == state::deferred;
  }
  /// It is to have another turn, by go_on(): is_unfinished(), or it is parked and its turn ended
  /// before it had looked at all the commands behind.
  bool wants_turn() const noexcept { return is_unfinished() || (is_parked() && is_looking_); }
  bool go_on();

  /// Goes on after server::defer(): `reply` answers the deferred command; nullopt: it is longer
  /// than the replies of a client may be.
  bool resume(std::optional<std::string> reply);

  /// A read that this client asked for has ended: runs its parked command again, if nothing else is
  /// missing. False when the connection is to be closed.
  bool on_arrival();

  bool wants_to_read() const noexcept {
    return !has_ended_ && state_ != state::closing && !waits_to_run();
  }
  bool wants_to_write() const noexcept { return waiting() > 0; }
  std::uint32_t events = 0;  ///< what epoll watches now
  /// The loop is going to call go_on(), now or when there is room. Independent of the state: a read
  /// that arrives may change the state while the client stays in the loop's list.
  bool awaits_turn = false;
  idle_order::place place;  ///< in the loop's order of last use
  client& peer() const noexcept { return *client_; }

 private:
  /// The head of this file has the table of transitions.
  enum class state : std::uint8_t {
    reading,
    running,
    rerunning,
    turn_over,
    paused,
    held,
    parked,
    deferred,
    closing
  };
  std::size_t waiting() const noexcept { return output_.size() - sent_; }
  bool has_room_for_replies() const noexcept {
    return waiting() <= std::max(settings::kOutputPauseBytes, query_.size());
  }
  bool is_running() const noexcept {
    return state_ == state::running || state_ == state::rerunning;
  }
  /// Whether run_buffer() may run the next command of the buffer.
  bool may_run() const noexcept { return is_running() && has_room_for_replies(); }
  /// The client has sent its last byte, all commands in it have run, and their replies are sent.
  bool is_done() const noexcept {
    return has_ended_ && !wants_to_write() && state_ == state::reading;
  }
  /// A client that has not given the password: it holds little memory.
  bool is_stranger() const noexcept;
  std::size_t output_limit() const noexcept;
  /// Runs the commands in the buffer, until the turn is over or too many replies wait.
  bool run_buffer();
  /// Goes on after a pause: run_buffer() and flush(), until the next pause or nothing is left.
  bool advance();
  /// Parses the next command. Returns whether there is one to run.
  bool parse();
  void run(std::span<const std::string_view> arguments);
  void dispatch(std::span<const std::string_view> arguments);
  void run_resolved(const store::command& command, std::span<const std::string_view> arguments);
  void execute(const store::command& command, store::call& call);
  void reject(const store::command& command, std::string_view why);
  /// Counts the command that `reply` answers. Returns how long it took, in nanoseconds, if it ran.
  std::optional<std::uint64_t> note_answered(std::string_view reply);
  store::executed execute_here(const store::command& command, store::call& call);
  enum class elsewhere : std::uint8_t {
    waits,  ///< for reads of COLD, on another thread
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
    return query_.size() == 0 && !wants_to_write() && !waits_to_run();
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
  state state_ = state::reading;
  /// The client sends no more; it may still read. Independent of the state: the commands that were
  /// read before still run, wait and are answered.
  bool has_ended_ = false;
  /// The command that runs, or is deferred, gets no reply (CLIENT REPLY). Independent of the state:
  /// CLIENT REPLY decides it before the command runs, in whichever state the command then waits.
  bool mute_ = false;
  /// The command that runs, or waits, and when it was first run; null: it was refused before.
  const store::command* command_ = nullptr;
  std::uint64_t began_ns_ = 0;
  std::uint64_t now_ns_ = 0;  ///< when the last command was answered, or the first began
  std::vector<std::string> deferred_arguments_;  ///< of the command that is deferred
  std::size_t lent_bytes_ = 0;  ///< memory that went with it: of the buffer, and of what was read
  /// The buffer went with the command, and the one that is here begins behind it. Independent of
  /// the state: a deferred command may have a copy instead, and a command that got no thread fails
  /// after the buffer went.
  bool has_lent_ = false;
  parked_command parked_;
  /// The parked command's arguments are views of where the buffer was. Independent of the state:
  /// the buffer moves only if parking the command shrinks it.
  bool is_moved_ = false;
  /// Bytes of the buffer up to which later commands' reads have been started, and up to which the
  /// last look at them has come.
  std::size_t read_ahead_end_ = 0, looked_to_ = 0;
  /// The last look goes on in the next turn. Independent of the state: if the parked command is
  /// answered first, the look goes on when the next command is parked.
  bool is_looking_ = false;
  store::reply reply_;
};

}  // namespace isotherm::server
