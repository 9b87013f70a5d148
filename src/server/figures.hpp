// The table of the figures that the server reports of itself, and the counters behind it. INFO,
// ISOTHERM STATS, the live page and /metrics report each row; CONFIG RESETSTAT resets the counters.
//
// To add a counter, add a row of kind `counted` to kFigureRows and count where the event happens:
// `server.statistics.add("refused_writes")`. The compiler checks the name. A row of another kind
// also needs a function in figures.cpp that reads its figure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/sharded_counter.hpp"
#include "live/figures.hpp"
#include "server/timing/reply_times.hpp"

namespace isotherm::server {

class server;

struct figure_row {
  enum class section : std::uint8_t {
    stats,
    isotherm,  ///< only where there is management
    none       ///< INFO has a field of its own for the figure
  };
  enum class kind : std::uint8_t {
    counted,  ///< a counter in server::statistics
    counter,  ///< a counter elsewhere, read by a function in figures.cpp
    gauge     ///< computed by a function in figures.cpp
  };
  std::string_view name;
  std::string_view info_name;  ///< Redis's, where it has one
  section info_section;
  std::string_view unit;
  std::string_view help;
  kind is;

  constexpr live::figure::course over_time() const noexcept {
    return is == kind::gauge ? live::figure::course::gauge : live::figure::course::counter;
  }
};

/// The order of the rows is that of the reports.
inline constexpr auto kFigureRows = [] {
  using enum figure_row::section;
  using enum figure_row::kind;
  return std::to_array<figure_row>({
      {"keys", "", none, "keys", "keys in the store", gauge},
      {"used_memory_bytes", "", none, "bytes", "bytes that records and all else take of DRAM",
       gauge},
      {"maxmemory_bytes", "", none, "bytes", "limit of used_memory_bytes; 0: none", gauge},
      {"clients", "", none, "clients", "clients that are connected", gauge},
      {"connections", "total_connections_received", stats, "clients", "clients that were let in",
       counted},
      {"commands", "total_commands_processed", stats, "commands", "commands run", counted},
      {"commands_per_second", "instantaneous_ops_per_sec", stats, "commands",
       "commands a second, over the last second", gauge},
      {"input_bytes", "total_net_input_bytes", stats, "bytes", "bytes read from clients", counted},
      {"output_bytes", "total_net_output_bytes", stats, "bytes", "bytes sent to clients", counted},
      {"rejected_connections", "rejected_connections", stats, "clients",
       "clients that were not let in", counted},
      {"expired_keys", "expired_keys", stats, "keys", "keys that have expired", counter},
      {"keyspace_hits", "keyspace_hits", stats, "keys", "keys that were asked for and were there",
       counter},
      {"keyspace_misses", "keyspace_misses", stats, "keys",
       "keys that were asked for and were not there", counter},
      {"unknown_commands", "unknown_commands", stats, "commands",
       "commands that do not exist, or had a wrong number of arguments", counted},
      {"error_replies", "total_error_replies", stats, "replies", "replies that were errors",
       counter},
      {"query_limit_disconnections", "client_query_buffer_limit_disconnections", stats, "clients",
       "clients closed because a request was too long", counted},
      {"output_limit_disconnections", "client_output_buffer_limit_disconnections", stats, "clients",
       "clients closed because they did not read", counted},
      {"evicted_clients", "evicted_clients", stats, "clients",
       "clients closed because all buffers together were too long", counted},
      {"wrong_passwords", "acl_access_denied_auth", stats, "clients", "passwords that were wrong",
       counted},
      {"refused_writes", "refused_writes", stats, "commands",
       "commands refused because DRAM was above its target", counted},
      {kReplyQuantiles[0].name, kReplyQuantiles[0].name, stats, "microseconds",
       kReplyQuantiles[0].help, gauge},
      {kReplyQuantiles[1].name, kReplyQuantiles[1].name, stats, "microseconds",
       kReplyQuantiles[1].help, gauge},
      {kReplyQuantiles[2].name, kReplyQuantiles[2].name, stats, "microseconds",
       kReplyQuantiles[2].help, gauge},
      {"refused_cold_objects", "refused_cold_objects", isotherm, "objects",
       "objects that COLD had no room for", counter},
      {"loop_major_faults", "loop_major_faults", isotherm, "pages",
       "pages of a disk that event loops have waited for", counter},
  });
}();

/// Returns the number of rows of kind `counted` among the first `rows` ones.
constexpr std::size_t counted_among(std::size_t rows) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows; ++i) count += kFigureRows[i].is == figure_row::kind::counted;
  return count;
}

/// One counter for each row of kind `counted`. Thread-safe.
class event_counters {
 public:
  /// Name of a row of kind `counted`. Any other name does not compile.
  class name {
   public:
    /// Implicit: the caller passes a literal.
    consteval name(const char* text) : number_(number_of(text)) {}

   private:
    friend event_counters;
    static consteval std::size_t number_of(std::string_view text) {
      for (std::size_t i = 0; i < kFigureRows.size(); ++i) {
        const bool is_counted = kFigureRows[i].is == figure_row::kind::counted;
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

/// Sets to zero the counters that CONFIG RESETSTAT resets: those of kind `counted`, and those of
/// kind `counter` that have a function for it.
void reset_figures(server& of);

}  // namespace isotherm::server
