#include "server/figures.hpp"

#include "server/server.hpp"

namespace isotherm::server {

namespace {

using course = live::figure::course;
using section = server_figure::section;

constexpr server_figure kFigures[] = {
    {"keys", "", section::none, "keys", "keys in the store", course::gauge,
     [](server& of) { return std::uint64_t{of.db().keys()}; }},
    {"used_memory_bytes", "", section::none, "bytes",
     "bytes that records and all else take of DRAM", course::gauge,
     [](server& of) { return of.db().memory().sampled_bytes(); }},
    {"maxmemory_bytes", "", section::none, "bytes", "limit of used_memory_bytes; 0: none",
     course::gauge, [](server& of) { return of.tuning().maxmemory.load_relaxed(); }},
    {"clients", "", section::none, "clients", "clients that are connected", course::gauge,
     [](server& of) { return std::uint64_t{of.clients().size()}; }},
    {"connections", "total_connections_received", section::stats, "clients",
     "clients that were let in", course::counter,
     [](server& of) { return of.statistics.connections.sum(); }},
    {"commands", "total_commands_processed", section::stats, "commands", "commands run",
     course::counter, [](server& of) { return of.statistics.commands.sum(); }},
    {"commands_per_second", "instantaneous_ops_per_sec", section::stats, "commands",
     "commands a second, over the last second", course::gauge,
     [](server& of) { return of.commands_per_second(); }},
    {"input_bytes", "total_net_input_bytes", section::stats, "bytes", "bytes read from clients",
     course::counter, [](server& of) { return of.statistics.input_bytes.sum(); }},
    {"output_bytes", "total_net_output_bytes", section::stats, "bytes", "bytes sent to clients",
     course::counter, [](server& of) { return of.statistics.output_bytes.sum(); }},
    {"rejected_connections", "rejected_connections", section::stats, "clients",
     "clients that were not let in", course::counter,
     [](server& of) { return of.statistics.rejected.sum(); }},
    {"expired_keys", "expired_keys", section::stats, "keys", "keys that have expired",
     course::counter, [](server& of) { return of.db().counted().expired.sum(); }},
    {"keyspace_hits", "keyspace_hits", section::stats, "keys",
     "keys that were asked for and were there", course::counter,
     [](server& of) { return of.db().counted().hits.sum(); }},
    {"keyspace_misses", "keyspace_misses", section::stats, "keys",
     "keys that were asked for and were not there", course::counter,
     [](server& of) { return of.db().counted().misses.sum(); }},
    {"unknown_commands", "unknown_commands", section::stats, "commands",
     "commands that do not exist, or had a wrong number of arguments", course::counter,
     [](server& of) { return of.statistics.errors.sum(); }},
    {"error_replies", "total_error_replies", section::stats, "replies", "replies that were errors",
     course::counter, [](server& of) { return of.errors_by_code.sum(); }},
    {"query_limit_disconnections", "client_query_buffer_limit_disconnections", section::stats,
     "clients", "clients closed because a request was too long", course::counter,
     [](server& of) { return of.statistics.query_limit.sum(); }},
    {"output_limit_disconnections", "client_output_buffer_limit_disconnections", section::stats,
     "clients", "clients closed because they did not read", course::counter,
     [](server& of) { return of.statistics.output_limit.sum(); }},
    {"evicted_clients", "evicted_clients", section::stats, "clients",
     "clients closed because all buffers together were too long", course::counter,
     [](server& of) { return of.statistics.evicted.sum(); }},
    {"wrong_passwords", "acl_access_denied_auth", section::stats, "clients",
     "passwords that were wrong", course::counter,
     [](server& of) { return of.statistics.wrong_passwords.sum(); }},
    {"refused_writes", "refused_writes", section::stats, "commands",
     "commands refused because DRAM was above its target", course::counter,
     [](server& of) { return of.statistics.refused_writes.sum(); }},
    {kReplyQuantiles[0].name, kReplyQuantiles[0].name, section::stats, "microseconds",
     kReplyQuantiles[0].help, course::gauge, [](server& of) { return of.reply_time_us(0); }},
    {kReplyQuantiles[1].name, kReplyQuantiles[1].name, section::stats, "microseconds",
     kReplyQuantiles[1].help, course::gauge, [](server& of) { return of.reply_time_us(1); }},
    {kReplyQuantiles[2].name, kReplyQuantiles[2].name, section::stats, "microseconds",
     kReplyQuantiles[2].help, course::gauge, [](server& of) { return of.reply_time_us(2); }},
    {"refused_cold_objects", "refused_cold_objects", section::isotherm, "objects",
     "objects that COLD had no room for", course::counter,
     [](server& of) { return of.manager() ? of.manager()->refused_cold_objects() : 0; }},
    {"loop_major_faults", "loop_major_faults", section::isotherm, "pages",
     "pages of a disk that event loops have waited for", course::counter,
     [](server& of) { return of.loop_major_faults(); }},
};
static_assert(kReplyQuantiles.size() == 3);

}  // namespace

std::span<const server_figure> server_figures() noexcept { return kFigures; }

}  // namespace isotherm::server
