#include "server/live_view.hpp"

#include <algorithm>

#include "server/server.hpp"

namespace isotherm::server {

namespace {

using course = live::figure::course;

struct server_field {
  std::string_view name, unit, help;
  course over_time;
  std::uint64_t (*get)(server&);
};

constexpr server_field kFields[] = {
    {"keys", "keys", "keys in the store", course::gauge,
     [](server& of) { return std::uint64_t{of.db().keys()}; }},
    {"clients", "clients", "clients that are connected", course::gauge,
     [](server& of) { return std::uint64_t{of.clients().size()}; }},
    {"commands", "commands", "commands run", course::counter,
     [](server& of) { return of.statistics.commands.sum(); }},
    {"commands_per_second", "commands", "commands a second, over the last second", course::gauge,
     [](server& of) { return of.commands_per_second(); }},
    {"keyspace_hits", "keys", "keys that were asked for and were there", course::counter,
     [](server& of) { return of.db().counted().hits.sum(); }},
    {"keyspace_misses", "keys", "keys that were asked for and were not there", course::counter,
     [](server& of) { return of.db().counted().misses.sum(); }},
    {"expired_keys", "keys", "keys whose time has come", course::counter,
     [](server& of) { return of.db().counted().expired.sum(); }},
    {"refused_writes", "commands", "commands refused because DRAM was above its target",
     course::counter, [](server& of) { return of.statistics.refused_writes.sum(); }},
    {"rejected_connections", "clients", "clients that were not let in", course::counter,
     [](server& of) { return of.statistics.rejected.sum(); }},
    {"input_bytes", "bytes", "bytes read from clients", course::counter,
     [](server& of) { return of.statistics.input_bytes.sum(); }},
    {"output_bytes", "bytes", "bytes sent to clients", course::counter,
     [](server& of) { return of.statistics.output_bytes.sum(); }},
    {"loop_major_faults", "pages", "pages of a disk that event loops have waited for",
     course::counter, [](server& of) { return of.loop_major_faults(); }},
    {"refused_cold_objects", "objects", "objects that COLD had no room for", course::counter,
     [](server& of) { return of.manager() ? of.manager()->refused_cold_objects() : 0; }},
};

}  // namespace

live::snapshot live_view::look() {
  live::snapshot seen = process_view::look();
  seen.facts.emplace_back("index", server_.db().index().name());
  if (server_.manager()) {
    const auto problem =
        std::ranges::find(seen.facts, "problem", &decltype(seen.facts)::value_type::first);
    if (problem != seen.facts.end()) problem->second = server_.manager()->problem();
  }
  for (const server_field& each : kFields) {
    seen.figures.push_back({each.name, each.unit, each.help, each.over_time, each.get(server_)});
  }
  for (std::size_t q = 0; q < kReplyQuantiles.size(); ++q) {
    const reply_quantile& each = kReplyQuantiles[q];
    seen.figures.push_back(
        {each.name, "microseconds", each.help, course::gauge, server_.reply_time_us(q)});
  }
  return seen;
}

base::result<void> live_view::configure(std::string_view name, std::string_view value) {
  if (!server_.manager()) return process_view::configure(name, value);
  return server_.manager()->configure(name, value);
}

}  // namespace isotherm::server
