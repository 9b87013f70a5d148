// CONFIG: the parameters that clients and operators ask for, with Redis' names.
#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.hpp"
#include "server/commands/families.hpp"
#include "server/log.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

namespace {

using getter = std::string (*)(server&);
/// Returns what was wrong with the value, or nothing.
using setter = std::string (*)(server&, std::string_view);

template <base::atomic<std::uint64_t> settings::* Member>
std::string get_number(server& server) {
  return fmt::format("{}", (server.tuning().*Member).load_relaxed());
}
template <base::atomic<std::uint64_t> settings::* Member, std::uint64_t Least, std::uint64_t Most>
std::string set_memory(server& server, std::string_view value) {
  const auto bytes = base::parse_bytes(value);
  if (!bytes) return "argument must be a memory value";
  if (*bytes < Least || *bytes > Most)
    return fmt::format("argument must be between {} and {} inclusive", Least, Most);
  (server.tuning().*Member).store_relaxed(*bytes);
  return {};
}
std::string set_maxmemory(server& server, std::string_view value) {
  if (base::parse_bytes(value).value_or(0) != 0 && !counts_allocations()) {
    return "maxmemory counts what jemalloc hands out, but another allocator was preloaded";
  }
  return set_memory<&settings::maxmemory, 0, UINT64_MAX>(server, value);
}
template <base::atomic<std::uint64_t> settings::* Member, std::int64_t Least, std::int64_t Most>
std::string set_number(server& server, std::string_view value) {
  const auto number = parse_integer(value);
  if (!number) return "argument couldn't be parsed into an integer";
  if (*number < Least || *number > Most) {
    return fmt::format("argument must be between {} and {} inclusive", Least, Most);
  }
  (server.tuning().*Member).store_relaxed(static_cast<std::uint64_t>(*number));
  return {};
}

/// Parameters with one built-in value; setting that value succeeds.
template <const char* Value>
std::string get_constant(server&) {
  return Value;
}
template <const char* Value>
std::string set_constant(server&, std::string_view value) {
  if (value == Value) return {};
  return fmt::format("only '{}' is supported by this server", Value);
}
constexpr char kEmpty[] = "", kNo[] = "no", kOne[] = "1", kNoEviction[] = "noeviction",
               kThreeHundred[] = "300", kEverysec[] = "everysec";

static_assert(settings::kKeepaliveSeconds == 300, "kThreeHundred says what the sockets are set to");

std::string get_output_limit(server& server) {
  return fmt::format("normal {} 0 0 slave 0 0 0 pubsub 0 0 0",
                     server.tuning().output_hard_limit.load_relaxed());
}
std::string set_output_limit(server& server, std::string_view value) {
  std::vector<std::string> words;
  std::string text(value);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (words.size() % 4 != 0 || words.empty()) {
    return "Wrong number of arguments in buffer limit configuration.";
  }
  for (std::size_t i = 0; i < words.size(); i += 4) {
    if (words[i] != "normal" && words[i] != "slave" && words[i] != "replica" &&
        words[i] != "pubsub") {
      return "Invalid client class specified in buffer limit configuration.";
    }
    const auto hard = base::parse_bytes(words[i + 1]);
    if (!hard) return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    // 0 means "no limit" to Redis; here a limit stays, far above any reply that is worth sending.
    if (words[i] == "normal") {
      server.tuning().output_hard_limit.store_relaxed(*hard ? *hard : std::uint64_t{64} << 30);
    }
  }
  return {};
}

std::string set_level(server&, std::string_view value) {
  const auto level = parse_log_level(value);
  if (!level) return "argument(s) must be one of the following: debug, verbose, notice, warning";
  set_log_level(*level);
  return {};
}

std::string set_slow_us(server& server, std::string_view value) {
  const auto us = parse_integer(value);
  if (!us) return "argument couldn't be parsed into an integer";
  if (*us < -1) return fmt::format("argument must be between -1 and {} inclusive", INT64_MAX);
  server.tuning().slow_us.store_relaxed(*us);
  return {};
}

std::string get_clients_limit(server& server) {
  const std::int64_t chosen = server.tuning().maxmemory_clients.load_relaxed();
  return chosen < 0 ? fmt::format("{}%", -chosen) : fmt::format("{}", chosen);
}
std::string set_clients_limit(server& server, std::string_view value) {
  const auto chosen = parse_clients_limit(value);
  if (!chosen) return "argument must be a memory or percent value";
  if (*chosen < -100) return "percentage argument must be less or equal to 100";
  server.tuning().maxmemory_clients.store_relaxed(*chosen);
  return {};
}

std::string get_protected(server& server) {
  return server.tuning().protected_mode.load_relaxed() ? "yes" : "no";
}
std::string set_protected(server& server, std::string_view value) {
  if (!equals_folded(value, "yes") && !equals_folded(value, "no")) {
    return "argument must be 'yes' or 'no'";
  }
  server.tuning().protected_mode.store_relaxed(equals_folded(value, "yes"));
  return {};
}

std::string get_bind(server& server) {
  std::string text;
  for (const auto& each : server.start_options().bind) text += (text.empty() ? "" : " ") + each;
  return text;
}

struct parameter {
  std::string_view name;
  getter get;
  setter set;  ///< null: fixed at the start
};

constexpr parameter kParameters[] = {
    {"appendfsync", get_constant<kEverysec>, set_constant<kEverysec>},
    {"appendonly", get_constant<kNo>, set_constant<kNo>},
    {"bind", get_bind, nullptr},
    {"client-output-buffer-limit", get_output_limit, set_output_limit},
    {"client-query-buffer-limit", get_number<&settings::query_buffer_limit>,
     set_memory<&settings::query_buffer_limit, 1 << 20, INT64_MAX>},
    {"cluster-enabled", get_constant<kNo>, nullptr},
    {"databases", get_constant<kOne>, nullptr},
    {"io-threads", [](server& server) { return fmt::format("{}", server.start_options().threads); },
     nullptr},
    {"latency-monitor-threshold", get_number<&settings::latency_ms>,
     set_number<&settings::latency_ms, 0, INT32_MAX>},
    {"logfile", [](server&) { return log_path(); }, nullptr},
    {"loglevel",
     [](server&) { return std::string(kLogLevels[static_cast<std::size_t>(chosen_log_level())]); },
     set_level},
    {"maxclients", get_number<&settings::maxclients>,
     set_number<&settings::maxclients, 1, UINT32_MAX>},
    {"maxmemory", get_number<&settings::maxmemory>, set_maxmemory},
    {"maxmemory-clients", get_clients_limit, set_clients_limit},
    {"maxmemory-policy", get_constant<kNoEviction>, set_constant<kNoEviction>},
    {"port", [](server& server) { return fmt::format("{}", server.port()); }, nullptr},
    {"proto-max-bulk-len", get_number<&settings::longest_value>,
     set_memory<&settings::longest_value, 1 << 20, INT64_MAX>},
    {"protected-mode", get_protected, set_protected},
    {"requirepass", [](server& server) { return server.tuning().password(); },
     [](server& server, std::string_view value) {
       server.tuning().set_password(std::string(value));
       return std::string();
     }},
    {"save", get_constant<kEmpty>, set_constant<kEmpty>},
    {"slowlog-log-slower-than",
     [](server& server) { return fmt::format("{}", server.tuning().slow_us.load_relaxed()); },
     set_slow_us},
    {"slowlog-max-len", get_number<&settings::slow_entries>,
     set_number<&settings::slow_entries, 0, 1'000'000>},
    {"tcp-keepalive", get_constant<kThreeHundred>, set_constant<kThreeHundred>},
    {"timeout", get_number<&settings::timeout_s>, set_number<&settings::timeout_s, 0, INT32_MAX>},
    {"unixsocket", [](server& server) { return server.start_options().unix_socket; }, nullptr},
    {"unixsocketperm",
     [](server& server) { return fmt::format("{:o}", server.start_options().unix_socket_mode); },
     nullptr},
};

const parameter* find_parameter(std::string_view name) {
  for (const auto& each : kParameters) {
    if (equals_folded(name, each.name)) return &each;
  }
  return nullptr;
}

void config_get(call& c) {
  // In the order asked for. Each name is answered once, spelled as it was asked for, as in Redis.
  std::vector<std::pair<const parameter*, std::string_view>> found;
  const auto add = [&found](const parameter& command, std::string_view name) {
    for (const auto& each : found) {
      if (each.first == &command) return;
    }
    found.emplace_back(&command, name);
  };
  for (const auto pattern : c.arguments.subspan(2)) {
    if (pattern.find_first_of("*?[") == pattern.npos) {
      if (const parameter* known = find_parameter(pattern)) add(*known, pattern);
      continue;
    }
    for (const auto& each : kParameters) {
      if (matches_glob(pattern, each.name, letter_case::any)) add(each, each.name);
    }
  }
  c.out.map(found.size());
  for (const auto& [command, name] : found) {
    c.out.bulk(name);
    c.out.bulk(command->get(sender(c).server));
  }
}

/// The parameters that CONFIG SET names, in order. Answers with an error and returns nothing when
/// one is unknown, cannot be changed or is named twice.
std::vector<const parameter*> named_parameters(call& c) {
  std::vector<const parameter*> found;
  const auto refuse = [&](std::size_t i, std::string_view why) {
    c.out.error(
        fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}", c[i], why));
    return std::vector<const parameter*>();
  };
  for (std::size_t i = 2; i < c.count(); i += 2) {
    const parameter* known = find_parameter(c[i]);
    if (!known) {
      c.out.error(
          fmt::format("ERR Unknown option or number of arguments for CONFIG SET - '{}'", c[i]));
      return {};
    }
    if (!known->set) return refuse(i, "can't set immutable config");
    if (std::find(found.begin(), found.end(), known) != found.end()) {
      return refuse(i, "duplicate parameter");
    }
    found.push_back(known);
  }
  return found;
}

/// Sets all parameters or none, as Redis does.
void config_set(call& c) {
  if (c.count() % 2 != 0) return c.out.error(errors::kSyntax);
  server& server = sender(c).server;
  const auto chosen = named_parameters(c);
  if (chosen.empty()) return;
  std::vector<std::string> before;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    before.push_back(chosen[i]->get(server));
    const std::string problem = chosen[i]->set(server, c[2 * i + 3]);
    if (problem.empty()) continue;
    for (std::size_t undone = 0; undone < i; ++undone) chosen[undone]->set(server, before[undone]);
    return c.out.error(fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}",
                                   c[2 * i + 2], problem));
  }
  c.out.ok();
}

void config_resetstat(call& c) {
  sender(c).server.reset_statistics();
  c.out.ok();
}

void config_rewrite(call& c) { c.out.error("ERR The server is running without a config file"); }

void config_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "GET <pattern>",
      "    Return parameters matching the glob-like <pattern> and their values.",
      "SET <directive> <value>",
      "    Set the configuration <directive> to <value>.",
      "RESETSTAT",
      "    Reset statistics reported by the INFO command.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

constexpr std::string_view kGroup = "server";
constexpr command kConfig[] = {
    {"get",
     -3,
     kAdmin,
     {},
     config_get,
     kGroup,
     "2.0.0",
     "Get the values of configuration parameters"},
    {"set",
     -4,
     kAdmin,
     {},
     config_set,
     kGroup,
     "2.0.0",
     "Set configuration parameters to the given values"},
    {"rewrite",
     2,
     kAdmin,
     {},
     config_rewrite,
     kGroup,
     "2.8.0",
     "Rewrite the configuration file with the in memory configuration"},
    {"resetstat",
     2,
     kAdmin,
     {},
     config_resetstat,
     kGroup,
     "2.0.0",
     "Reset the stats returned by INFO"},
    {"help", 2, 0, {}, config_help, kGroup, "5.0.0", "Show helpful text about the subcommands"},
};
constexpr command kCommands[] = {
    {"config",
     -2,
     0,
     {},
     nullptr,
     kGroup,
     "2.0.0",
     "A container for server configuration commands",
     kConfig},
};

}  // namespace

std::span<const command> config_commands() { return kCommands; }

}  // namespace isotherm::server
