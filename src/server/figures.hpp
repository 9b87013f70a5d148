// The table of the figures that the server reports of itself, and the counters behind it. INFO,
// ISOTHERM STATS, the live page and /metrics report each row; CONFIG RESETSTAT resets the counters.
//
// To add a counter, add a row that is `counted` to kFigureRows and count where the event happens:
// `server.statistics.add("refused_writes")`. The compiler checks the name. A row that is not
// `counted` also needs a function in figures.cpp that reads its figure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/figure.hpp"
#include "base/sharded_counter.hpp"

namespace isotherm::server {

class server;

struct figure_row : base::figure {
  enum class section : std::uint8_t {
    stats,
    isotherm,  ///< only where there is management
    none       ///< INFO has a field of its own for the figure
  };
  section info_section;
  std::string_view info_name;  ///< Redis's, where it has one
  bool is_counted;             ///< by a counter in server::statistics; else by a function

  /// A counter in server::statistics.
  static constexpr figure_row counted(std::string_view name, std::string_view unit,
                                      std::string_view help, section where,
                                      std::string_view info_name) {
    return {{name, unit, help, course::counter}, where, info_name, true};
  }
  /// A counter elsewhere, read by a function in figures.cpp.
  static constexpr figure_row counter(std::string_view name, std::string_view unit,
                                      std::string_view help, section where,
                                      std::string_view info_name) {
    return {{name, unit, help, course::counter}, where, info_name, false};
  }
  /// Computed by a function in figures.cpp.
  static constexpr figure_row gauge(std::string_view name, std::string_view unit,
                                    std::string_view help, section where = section::none,
                                    std::string_view info_name = "") {
    return {{name, unit, help, course::gauge}, where, info_name, false};
  }
};

/// The order of the rows is that of the reports.
inline constexpr auto kFigureRows = [] {
  using enum figure_row::section;
  using row = figure_row;
  return std::array{
      row::gauge("keys", "keys", "keys in the store"),
      row::gauge("used_memory_bytes", "bytes", "bytes that records and all else take of DRAM"),
      row::gauge("maxmemory_bytes", "bytes", "limit of used_memory_bytes; 0: none"),
      row::gauge("clients", "clients", "clients that are connected"),
      row::counted("connections", "clients", "clients that were let in", stats,
                   "total_connections_received"),
      row::counted("commands", "commands", "commands run", stats, "total_commands_processed"),
      row::gauge("commands_per_second", "commands", "commands a second, over the last second",
                 stats, "instantaneous_ops_per_sec"),
      row::counted("input_bytes", "bytes", "bytes read from clients", stats,
                   "total_net_input_bytes"),
      row::counted("output_bytes", "bytes", "bytes sent to clients", stats,
                   "total_net_output_bytes"),
      row::counted("rejected_connections", "clients", "clients that were not let in", stats,
                   "rejected_connections"),
      row::counter("expired_keys", "keys", "keys that have expired", stats, "expired_keys"),
      row::counter("keyspace_hits", "keys", "keys that were asked for and were there", stats,
                   "keyspace_hits"),
      row::counter("keyspace_misses", "keys", "keys that were asked for and were not there", stats,
                   "keyspace_misses"),
      row::counted("unknown_commands", "commands",
                   "commands that do not exist, or had a wrong number of arguments", stats,
                   "unknown_commands"),
      row::counter("error_replies", "replies", "replies that were errors", stats,
                   "total_error_replies"),
      row::counted("query_limit_disconnections", "clients",
                   "clients closed because a request was too long", stats,
                   "client_query_buffer_limit_disconnections"),
      row::counted("output_limit_disconnections", "clients",
                   "clients closed because they did not read", stats,
                   "client_output_buffer_limit_disconnections"),
      row::counted("evicted_clients", "clients",
                   "clients closed because all buffers together were too long", stats,
                   "evicted_clients"),
      row::counted("wrong_passwords", "clients", "passwords that were wrong", stats,
                   "acl_access_denied_auth"),
      row::counted("refused_writes", "commands",
                   "commands refused because DRAM was above its target", stats, "refused_writes"),
      row::gauge("reply_p50_us", "microseconds",
                 "half of the replies of the last second took the server at most so long, a "
                 "pipeline as one",
                 stats, "reply_p50_us"),
      row::gauge("reply_p99_us", "microseconds", "99 of 100 of these replies took at most so long",
                 stats, "reply_p99_us"),
      row::gauge("reply_p999_us", "microseconds",
                 "999 of 1000 of these replies took at most so long", stats, "reply_p999_us"),
      row::counter("refused_cold_objects", "objects", "objects that COLD had no room for", isotherm,
                   "refused_cold_objects"),
      row::counter("loop_major_faults", "pages",
                   "pages of swap, or of the program, that event loops have waited for", isotherm,
                   "loop_major_faults"),
  };
}();

/// Returns the number of rows that are `counted`, among the first `rows` ones.
constexpr std::size_t counted_among(std::size_t rows) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) count += kFigureRows[i].is_counted;
  return count;
}

/// One counter for each row that is `counted`. Thread-safe.
class event_counters {
 public:
  /// Name of a row that is `counted`. Any other name does not compile.
  class name {
   public:
    /// Implicit: the caller passes a literal.
    consteval name(const char* text) : number_(number_of(text)) {}

   private:
    friend event_counters;
    static consteval std::size_t number_of(std::string_view text) {
      for (std::size_t i = 0; i < kFigureRows.size(); ++i) {
        const bool is_counted = kFigureRows[i].is_counted;
        if (is_counted && kFigureRows[i].name == text) return counted_among(i);
      }
      return there_is_no_counter_of_this_name();
    }
    static std::size_t there_is_no_counter_of_this_name();  ///< no body: the compiler stops at it
    std::size_t number_;
  };

  void add(name of, std::uint64_t n = 1) noexcept {
    counters_[of.number_].add(static_cast<std::int64_t>(n));
  }
  std::uint64_t sum(name of) const noexcept { return counters_[of.number_].sum(); }
  /// Sets all counters to zero. Concurrent add()s may be lost.
  void reset() noexcept {
    for (base::sharded_counter& each : counters_) each.reset();
  }

 private:
  std::array<base::sharded_counter, counted_among(kFigureRows.size())> counters_;
};

/// A row with the function that reads its figure.
struct server_figure : figure_row {
  std::uint64_t (*get)(server&);  ///< any thread
};
std::span<const server_figure> server_figures() noexcept;

/// Sets to zero the counters that CONFIG RESETSTAT resets: those that are `counted`, and
/// those whose source has a function for it.
void reset_figures(server& of);

}  // namespace isotherm::server
