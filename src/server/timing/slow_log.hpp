// SLOWLOG, LATENCY and INFO errorstats: the last commands that took long, when commands took
// longest, and which errors they were answered with.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isotherm::server {

/// The newest entries, up to a number. Thread-safe.
class slow_log {
 public:
  struct entry {
    std::uint64_t id = 0;
    std::int64_t time_s = 0;  ///< of its end, since 1970
    std::uint64_t us = 0;     ///< that it took
    std::vector<std::string> arguments;
    std::string address, client_name;
  };

  /// Returns the part of a command's arguments that is kept: the first 32, and of each 128 bytes.
  /// Longer ones end with how much was left out, as in Redis.
  static std::vector<std::string> shortened(std::span<const std::string_view> arguments);

  /// Gives `made` its number; then the log has `most` entries at most.
  void add(entry made, std::size_t most);
  /// Newest first, `most` at most.
  std::vector<entry> newest(std::size_t most) const;
  std::size_t size() const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 0;
  std::deque<entry> entries_;  // newest first
};

/// Replies that were errors, by their first word ("ERR"), which is one of the server's own.
/// Thread-safe.
class error_counts {
 public:
  void count(std::string_view code);
  std::map<std::string, std::uint64_t, std::less<>> all() const;
  std::uint64_t sum() const;
  void reset();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

/// Times of events that took long, by the events' names: the longest of each second. Thread-safe.
class latency_events {
 public:
  struct moment {
    std::int64_t time_s;
    std::uint64_t ms;
  };
  /// Moments that are kept of an event, as in Redis.
  static constexpr std::size_t kKept = 160;

  void add(std::string_view event, moment when);
  struct latest_of {
    std::string event;
    moment last;
    std::uint64_t most_ms;  ///< since the event was reset
  };
  std::vector<latest_of> latest() const;
  /// Oldest first.
  std::vector<moment> history(std::string_view event) const;
  /// Forgets an event, or all without a name. Returns how many.
  std::size_t reset(std::string_view event = {});

 private:
  struct seen {
    std::deque<moment> moments;
    std::uint64_t most_ms = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, seen, std::less<>> events_;
};

}  // namespace isotherm::server
