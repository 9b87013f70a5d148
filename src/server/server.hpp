// The server: listeners, event loops, clients, the command table and the database behind them.
#pragma once

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "os/stoppable_thread.hpp"
#include "placement/node_placement.hpp"
#include "server/background.hpp"
#include "server/client.hpp"
#include "server/event_loop.hpp"
#include "server/figures.hpp"
#include "server/gathered_report.hpp"
#include "server/listener.hpp"
#include "server/management/management.hpp"
#include "server/options.hpp"
#include "server/timing/command_times.hpp"
#include "server/timing/slow_log.hpp"
#include "store/commands/table.hpp"

namespace isotherm::server {

/// Returns the answer to a command that threw this.
std::string error_for(const std::exception& failed);

/// start() and stop() are for one controlling thread; the rest is thread-safe.
class server {
 public:
  /// `manager`: null where management is off. `nodes`: the placement of the index's nodes; null:
  /// they are not placed. All must outlive the server.
  server(options chosen, store::database& db, management* manager,
         placement::node_placement* nodes = nullptr);
  ~server();

  /// Listens and serves. Fails with one line when it can't listen.
  base::result<void> start();
  /// Closes clients and listeners. Idempotent.
  void stop();

  /// Addresses that it listens on by TCP. Once started.
  const std::vector<std::string>& addresses() const noexcept { return addresses_; }
  int port() const noexcept { return port_; }  ///< the TCP port in use; 0: none
  const options& start_options() const noexcept { return options_; }
  settings& tuning() noexcept { return settings_; }
  store::database& db() noexcept { return db_; }
  management* manager() noexcept { return manager_; }
  placement::node_placement* nodes() const noexcept { return nodes_; }
  /// Returns how many pages the event loops have waited for: of swap, or of the program.
  std::uint64_t loop_major_faults() const noexcept;
  /// The engine of the loops' readers ("io_uring"); "none" where commands wait. Once started; any
  /// thread.
  std::string_view read_engine() const noexcept;
  bool has_read_thread() const noexcept { return read_engine() == os::read_queue::kPolledName; }
  /// Whether commands that may take memory are to be refused.
  bool refuses_growth() const noexcept { return manager_ && manager_->refuses_growth(); }
  const store::command_table& commands() const noexcept { return table_; }
  client_registry& clients() noexcept { return clients_; }
  std::int64_t started_ms() const noexcept { return started_ms_; }

  /// Marks a client as killed; its event loop closes it.
  void kill(client& client);
  void forget(const client& client);

  /// For a command of `client` that takes long: `work` answers it on another thread while the event
  /// loop serves others, and the next commands of `client` wait. For the loop's thread; what `work`
  /// uses must live as long as the server.
  void defer(client& client, std::function<void(store::reply&)> work);
  /// Like defer(), for `work` that waits for the disk of COLD, on a thread of its own: other work
  /// is not behind it.
  void defer_to_disk(client& client, std::function<void(store::reply&)> work);
  /// Like defer(), for `work` that copies a large value: it waits for no disk as a rule, and is not
  /// behind work that does.
  void defer_large(client& client, std::function<void(store::reply&)> work);

  /// Count an event of a client, and report it on standard error (gathered_report).
  void note_wrong_password(const client& client);
  void note_query_limit(const client& client);
  void note_output_limit(const client& client);

  /// Memory that clients' buffers and reads take, but for those of CLIENT NO-EVICT.
  std::uint64_t clients_bytes() const noexcept;
  /// How much a quarter of the limit of all clients leaves: reads ahead, which can be left out,
  /// leave the rest to requests and replies.
  std::uint64_t room_for_reads_ahead() const noexcept;
  /// Closes the clients that hold most until the limit of all clients is kept. Any thread; called
  /// after each round of an event loop, a sum of as many numbers as there are loops.
  void hold_clients_to_limit();

  /// The parts of the process's DRAM, in bytes; they add up to the resident set.
  struct dram {
    std::uint64_t data;       ///< records: extents of NEW and HOT, and what is in DRAM of COLD
    std::uint64_t nodes;      ///< of the index
    std::uint64_t clients;    ///< clients_bytes()
    std::uint64_t allocator;  ///< what it takes beyond what it has handed out
    std::uint64_t rest;       ///< the program, its stacks and tables
  };
  /// Any thread. COLD's part was looked at a while ago (look_at_cold()).
  dram dram_now() const;
  /// Whether a command that took so long is to be noted: note_slow(). Relaxed loads: a threshold
  /// that was just changed may hold for the command before.
  bool takes_long(std::uint64_t ns) const noexcept {
    const std::int64_t slow_us = settings_.slow_us.load_relaxed();
    const std::uint64_t latency_ms = settings_.latency_ms.load_relaxed();
    return (slow_us >= 0 && ns / 1'000 >= static_cast<std::uint64_t>(slow_us)) ||
           (latency_ms > 0 && ns / 1'000'000 >= latency_ms);
  }
  /// Returns the arguments of a call, shortened and without passwords.
  static std::vector<std::string> loggable(const store::command& called,
                                           std::span<const std::string_view> arguments);
  /// Notes in the logs that ask for it that a call with these arguments, from loggable(), took
  /// `ns`.
  void note_slow(const client& client, const store::command& called,
                 std::vector<std::string> arguments, std::uint64_t ns);
  /// Returns the counts of the command with that number among commands().callables(), since the
  /// last reset_statistics(). Any thread.
  command_counts counts_of(std::size_t number) const;
  // Thread-safe, each of them.
  error_counts errors_by_code;
  slow_log slow;
  latency_events latency;

  event_counters statistics;
  /// Sets the counters of INFO's section "stats" to zero.
  void reset_statistics();
  /// Commands a second over the last second.
  std::uint64_t commands_per_second() const noexcept { return rate_.load_relaxed(); }
  /// Counts of all replies since the start, and the sum of their times in nanoseconds. Any thread.
  reply_counts all_reply_times() const noexcept;
  /// Returns the microseconds within which kReplyShares[which] of the replies of the last second
  /// came.
  std::uint64_t reply_time_us(std::size_t which) const noexcept {
    return reply_times_us_[which].load_relaxed();
  }

 private:
  bool accept_from(int fd, const std::string& unix_path);
  void admit(int fd, const std::string& unix_path);
  void look_at_last_second() noexcept;
  void count_rate(std::int64_t elapsed_ms) noexcept;
  void count_reply_times() noexcept;
  void upkeep() noexcept;
  void look_at_cold();
  std::array<gathered_report*, 4> reports() noexcept {
    return {&wrong_passwords_, &query_limit_, &output_limit_, &evicted_};
  }
  void follow_clients_limit();
  void evict_clients(std::uint64_t limit);
  void defer_to(background& thread, client& client, std::function<void(store::reply&)> work);

  options options_;
  settings settings_;
  store::database& db_;
  management* manager_;
  placement::node_placement* nodes_;
  store::command_table table_;
  client_registry clients_;
  const std::int64_t started_ms_;
  base::atomic<std::uint64_t> next_id_{1};
  base::atomic<std::uint64_t> rate_{0};
  base::atomic<std::uint64_t> cold_resident_{0};  ///< of the last look; relaxed, a figure for INFO
  std::uint64_t look_at_cold_ns_ = 0;             ///< when look_at_cold() may run next
  std::uint64_t rate_commands_ = 0;
  std::array<base::atomic<std::uint64_t>, kReplyShares.size()> reply_times_us_{};
  reply_counts replies_before_;
  std::int64_t second_since_ms_ = 0;
  command_counts counted_of(std::size_t number) const;
  mutable std::mutex counted_mutex_;
  std::map<std::size_t, command_counts> counted_before_;  ///< the last reset_statistics()
  std::vector<std::string> addresses_;
  int port_ = 0;
  std::size_t next_loop_ = 0;
  const std::uint64_t machine_bytes_;  ///< DRAM that is there when nothing else limits it
  /// Bytes of all clients; 0: none. Relaxed: written by upkeep(), and a loop may see a change late.
  base::atomic<std::uint64_t> clients_limit_;
  std::mutex evicting_;
  gathered_report wrong_passwords_{"wrong password from", "wrong passwords, the last from"};
  gathered_report query_limit_{"unread requests beyond client-query-buffer-limit: closed",
                               "clients closed for unread requests beyond "
                               "client-query-buffer-limit, the last"};
  gathered_report output_limit_{"unread replies beyond client-output-buffer-limit: closed",
                                "clients closed for unread replies beyond "
                                "client-output-buffer-limit, the last"};
  gathered_report evicted_{"all clients' buffers beyond maxmemory-clients: closed",
                           "clients closed for buffers beyond maxmemory-clients, the last"};
  std::vector<listener> listeners_;
  std::vector<std::unique_ptr<event_loop>> loops_;
  // Destroyed before the loops, which their jobs use.
  background long_work_;
  background disk_work_;
  background large_work_;
  os::stoppable_thread upkeep_;
};

}  // namespace isotherm::server
