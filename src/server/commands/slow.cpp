// SLOWLOG and LATENCY: which commands took long, and when.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "server/commands/families.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

namespace {

void slowlog_get(call& c) {
  std::size_t most = 10;
  if (c.count() == 3) {
    const auto asked = parse_integer(c[2]);
    if (!asked || *asked < -1) {
      return c.out.error("ERR count should be greater than or equal to -1");
    }
    most =
        *asked == -1 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(*asked);
  }
  const auto entries = sender(c).server.slow.newest(most);
  c.out.array(entries.size());
  for (const slow_log::entry& each : entries) {
    c.out.array(6);
    c.out.integer(static_cast<std::int64_t>(each.id));
    c.out.integer(each.time_s);
    c.out.integer(static_cast<std::int64_t>(each.us));
    c.out.array(each.arguments.size());
    for (const std::string& argument : each.arguments) c.out.bulk(argument);
    c.out.bulk(each.address);
    c.out.bulk(each.client_name);
  }
}

void slowlog_len(call& c) {
  c.out.integer(static_cast<std::int64_t>(sender(c).server.slow.size()));
}

void slowlog_reset(call& c) {
  sender(c).server.slow.clear();
  c.out.ok();
}

void slowlog_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "GET [<count>]",
      "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
      "    Entries are made of:",
      "    id, timestamp, time in microseconds, arguments array, client IP and port,",
      "    client name",
      "    The time counts from a command's first run, with what it waited for.",
      "LEN",
      "    Return the length of the slowlog.",
      "RESET",
      "    Reset the slowlog.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

void latency_latest(call& c) {
  const auto all = sender(c).server.latency.latest();
  c.out.array(all.size());
  for (const auto& each : all) {
    c.out.array(4);
    c.out.bulk(each.event);
    c.out.integer(each.last.time_s);
    c.out.integer(static_cast<std::int64_t>(each.last.ms));
    c.out.integer(static_cast<std::int64_t>(each.most_ms));
  }
}

void latency_history(call& c) {
  const auto all = sender(c).server.latency.history(c[2]);
  c.out.array(all.size());
  for (const auto& each : all) {
    c.out.array(2);
    c.out.integer(each.time_s);
    c.out.integer(static_cast<std::int64_t>(each.ms));
  }
}

void latency_reset(call& c) {
  latency_events& events = sender(c).server.latency;
  std::size_t forgotten = 0;
  if (c.count() == 2) forgotten = events.reset();
  for (const auto event : c.arguments.subspan(2)) {
    if (!event.empty()) forgotten += events.reset(event);
  }
  c.out.integer(static_cast<std::int64_t>(forgotten));
}

/// Calls that took at most so many microseconds, for each power of two at which the number grows.
std::vector<std::pair<std::uint64_t, std::uint64_t>> cumulated(const reply_counts& times) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  std::uint64_t seen = 0, told = 0;
  using buckets = reply_times::buckets;
  for (std::size_t b = 0; b < buckets::kCount; ++b) {
    seen += times.count(b);
    const bool ends_a_power = b % buckets::kHalf == buckets::kHalf - 1;
    if (!ends_a_power || seen == told) continue;
    // A power of two, of which the bucket ends 2.4% later: it counts in 1024 nanoseconds.
    const std::uint64_t us = std::max<std::uint64_t>((buckets::upper_of(b) + 1) / 1024, 1);
    if (!all.empty() && all.back().first == us) all.pop_back();  // below a microsecond
    all.emplace_back(us, told = seen);
  }
  return all;
}

void latency_histogram(call& c) {
  server& server = sender(c).server;
  const command_table& table = server.commands();
  std::vector<std::pair<std::size_t, command_counts>> found;
  for (std::size_t i = 0; i < table.callables().size(); ++i) {
    const std::string_view name = table.callables()[i].name;
    const auto is_meant = [name](std::string_view asked) {
      return equals_folded(asked, name) || equals_folded(asked, name.substr(0, name.find('|')));
    };
    const auto asked = c.arguments.subspan(2);
    if (!asked.empty() && !std::ranges::any_of(asked, is_meant)) continue;
    command_counts counted = server.counts_of(i);
    if (counted.calls() > 0) found.emplace_back(i, counted);
  }
  c.out.map(found.size());
  for (const auto& [number, counted] : found) {
    c.out.bulk(table.callables()[number].name);
    c.out.map(2);
    c.out.bulk("calls");
    c.out.integer(static_cast<std::int64_t>(counted.calls()));
    c.out.bulk("histogram_usec");
    const auto buckets = cumulated(counted.times);
    c.out.map(buckets.size());
    for (const auto& [us, calls] : buckets) {
      c.out.integer(static_cast<std::int64_t>(us));
      c.out.integer(static_cast<std::int64_t>(calls));
    }
  }
}

void latency_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "LATENCY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "HISTOGRAM [COMMAND ...]",
      "    Return the cumulative distribution of latencies of commands in histogram format.",
      "HISTORY <event>",
      "    Return time-latency samples for the <event> class: command or fast-command.",
      "LATEST",
      "    Return the latest latency samples for all events.",
      "RESET [<event> ...]",
      "    Reset latency data of one or more <event> classes.",
      "    (default: reset all data for all event classes)",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

constexpr std::string_view kGroup = "server";
constexpr command kSlowlog[] = {
    {"get", -2, kAdmin, {}, slowlog_get, kGroup, "2.2.12", "Get the slow log's entries"},
    {"len", 2, kAdmin, {}, slowlog_len, kGroup, "2.2.12", "Get the slow log's length"},
    {"reset",
     2,
     kAdmin,
     {},
     slowlog_reset,
     kGroup,
     "2.2.12",
     "Clear all entries from the slow log"},
    {"help", 2, 0, {}, slowlog_help, kGroup, "6.2.0", "Show helpful text about the subcommands"},
};
constexpr command kLatency[] = {
    {"latest",
     2,
     kAdmin,
     {},
     latency_latest,
     kGroup,
     "2.8.13",
     "Return the latest latency samples for all events."},
    {"history",
     3,
     kAdmin,
     {},
     latency_history,
     kGroup,
     "2.8.13",
     "Return timestamp-latency samples for the event."},
    {"histogram",
     -2,
     kAdmin,
     {},
     latency_histogram,
     kGroup,
     "7.0.0",
     "Return the cumulative distribution of latencies of a subset of commands or all."},
    {"reset",
     -2,
     kAdmin,
     {},
     latency_reset,
     kGroup,
     "2.8.13",
     "Reset latency data for one or more events."},
    {"help", 2, 0, {}, latency_help, kGroup, "2.8.13", "Show helpful text about the subcommands"},
};
constexpr command kCommands[] = {
    {"slowlog",
     -2,
     0,
     {},
     nullptr,
     kGroup,
     "2.2.12",
     "A container for slow log commands",
     kSlowlog},
    {"latency",
     -2,
     0,
     {},
     nullptr,
     kGroup,
     "2.8.13",
     "A container for latency diagnostics commands",
     kLatency},
};

}  // namespace

std::span<const command> slow_commands() { return kCommands; }

}  // namespace isotherm::server
