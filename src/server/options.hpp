// The operator's decisions: before the start (options) and while the server runs (settings).
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"
#include "placement/node_placement.hpp"
#include "store/record.hpp"

namespace isotherm::server {

struct options {
  std::vector<std::string> bind = {"127.0.0.1"};  ///< addresses; empty: no TCP
  int port = 6379;                                ///< 0: any free one, server::port() tells
  std::string unix_socket;                        ///< path; empty: none
  std::uint32_t unix_socket_mode = 0;             ///< its file's permissions; 0: as umask leaves
  unsigned threads = 2;
  bool read_thread = false;    ///< a kernel thread submits reads (os::read_queue::engine::polled)
  std::string password;        ///< empty: none asked for
  bool protected_mode = true;  ///< without a password only loopback clients are served
  std::uint64_t maxmemory_bytes = 0;     ///< 0: no limit
  std::int64_t maxmemory_clients = -12;  ///< see parse_clients_limit()
  std::uint64_t maxclients = 10000;
  std::uint64_t timeout_s = 0;  ///< after which idle clients are closed; 0: never
};

/// Parses what all clients' buffers together may take: bytes ("64mb"; 0: no limit), or a share
/// ("5%") of settings::clients_limit_bytes()'s base, which is returned as a negative number.
/// nullopt: neither. Below -100: too large.
std::optional<std::int64_t> parse_clients_limit(std::string_view text) noexcept;

/// Parses bytes ("512mb", "0"), or a share of all nodes ("20%", 0 to 100). nullopt: neither.
std::optional<placement::fast_size> parse_fast_size(std::string_view text) noexcept;
/// Returns a text that parse_fast_size() takes.
std::string to_text(const placement::fast_size& size);

/// Parameters that CONFIG SET may change at any time. Thread-safe.
class settings {
 public:
  explicit settings(const options& start)
      : maxmemory(start.maxmemory_bytes),
        maxmemory_clients(start.maxmemory_clients),
        maxclients(start.maxclients),
        timeout_s(start.timeout_s),
        protected_mode(start.protected_mode),
        password_(start.password),
        has_password_(!start.password.empty()) {}

  base::atomic<std::uint64_t> maxmemory;         ///< bytes
  base::atomic<std::int64_t> maxmemory_clients;  ///< bytes, or minus percent
  base::atomic<std::uint64_t> maxclients;
  base::atomic<std::uint64_t> timeout_s;
  base::atomic<bool> protected_mode;
  base::atomic<std::uint64_t> longest_value{std::uint64_t{512} << 20};     ///< proto-max-bulk-len
  base::atomic<std::uint64_t> query_buffer_limit{std::uint64_t{1} << 30};  ///< bytes of a client
  base::atomic<std::uint64_t> output_hard_limit{std::uint64_t{2} << 30};   ///< bytes of a client
  base::atomic<std::int64_t> slow_us{10'000};     ///< slowlog-log-slower-than; -1: none is logged
  base::atomic<std::uint64_t> slow_entries{128};  ///< slowlog-max-len
  base::atomic<std::uint64_t> latency_ms{0};      ///< latency-monitor-threshold; 0: none is noted
  /// After so many microseconds the turn of a client that has sent several commands is over, and so
  /// is the search for what the commands behind a parked one are going to miss. Not of CONFIG SET.
  base::atomic<std::uint64_t> turn_us{50};

  /// Bytes that all clients' buffers together may take; 0: no limit. A share is one of maxmemory
  /// or of `memory_bytes`, whichever is less.
  std::uint64_t clients_limit_bytes(std::uint64_t memory_bytes) const noexcept;
  /// Most bytes of a key or a value: what the operator chose, or what an index can hold if that is
  /// less.
  std::uint64_t longest_storable() const noexcept {
    return std::min(longest_value.load_relaxed(), store::kLongestValue);
  }

  /// Seconds of silence after which a TCP connection is probed (tcp-keepalive).
  static constexpr int kKeepaliveSeconds = 300;
  /// Bytes of replies waiting for a client beyond which its requests may wait (connection).
  static constexpr std::size_t kOutputPauseBytes = std::size_t{1} << 20;
  /// Bytes of replies waiting for a client that has to give a password and has not, beyond which it
  /// is closed. The parser takes only short commands from it.
  static constexpr std::size_t kStrangersOutputBytes = std::size_t{16} << 10;

  bool has_password() const noexcept { return has_password_.load_acquire(); }
  std::string password() const {
    const std::lock_guard lock(mutex_);
    return password_;
  }
  void set_password(std::string word) {
    const std::lock_guard lock(mutex_);
    has_password_.store_release(!word.empty());
    password_ = std::move(word);
  }
  /// Takes the same time wherever a wrong password differs.
  bool is_password(std::string_view word) const {
    const std::string right = password();
    unsigned difference = right.size() != word.size();
    for (std::size_t i = 0; i < word.size(); ++i) {
      difference |= static_cast<unsigned char>(word[i]) ^
                    static_cast<unsigned char>(right.empty() ? 0 : right[i % right.size()]);
    }
    return difference == 0;
  }

 private:
  mutable std::mutex mutex_;
  std::string password_;
  base::atomic<bool> has_password_;
};

}  // namespace isotherm::server
