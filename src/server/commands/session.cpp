// Commands about the sender's own connection.
#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>
#include <chrono>
#include <utility>

#include "server/commands/families.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

namespace {

constexpr std::string_view kWrongPassword =
    "WRONGPASS invalid username-password pair or user is disabled.";

void ping(call& c) {
  if (c.count() > 2) return c.out.error("ERR wrong number of arguments for 'ping' command");
  if (c.count() == 2)
    c.out.bulk(c[1]);
  else
    c.out.status("PONG");
}

void echo(call& c) { c.out.bulk(c[1]); }

void quit(call& c) {
  c.out.ok();
  sender(c).closing = true;
}

bool log_in(call& c, std::string_view user, std::string_view password) {
  const settings& tuning = sender(c).server.tuning();
  if (user != "default" || (tuning.has_password() && !tuning.is_password(password))) {
    sender(c).server.note_wrong_password(sender(c));
    c.out.error(kWrongPassword);
    return false;
  }
  sender(c).authenticated = true;
  return true;
}

void auth(call& c) {
  if (c.count() > 3) return c.out.error(errors::kSyntax);
  if (c.count() == 2 && !sender(c).server.tuning().has_password()) {
    return c.out.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  if (log_in(c, c.count() == 3 ? c[1] : "default", c[c.count() - 1])) c.out.ok();
}

bool is_client_name(std::string_view name) {
  for (const char each : name) {
    if (each < '!' || each > '~') return false;
  }
  return true;
}
constexpr std::string_view kBadName =
    "ERR Client names cannot contain spaces, newlines or special characters.";

void answer_hello(call& c) {
  client& client = sender(c);
  c.out.map(7);
  c.out.bulk("server");
  c.out.bulk("redis");
  c.out.bulk("version");
  c.out.bulk(kRedisVersion);
  c.out.bulk("proto");
  c.out.integer(c.out.protocol());
  c.out.bulk("id");
  c.out.integer(static_cast<std::int64_t>(client.id));
  c.out.bulk("mode");
  c.out.bulk("standalone");
  c.out.bulk("role");
  c.out.bulk("master");
  c.out.bulk("modules");
  c.out.array(0);
}

void hello(call& c) {
  client& client = sender(c);
  int version = client.protocol.load_relaxed();
  if (c.count() >= 2) {
    const auto wanted = parse_integer(c[1]);
    if (!wanted) return c.out.error("ERR Protocol version is not an integer or out of range");
    if (*wanted != 2 && *wanted != 3) return c.out.error("NOPROTO unsupported protocol version");
    version = static_cast<int>(*wanted);
  }
  for (std::size_t i = 2; i < c.count(); ++i) {
    if (equals_folded(c[i], "auth") && i + 2 < c.count()) {
      if (!log_in(c, c[i + 1], c[i + 2])) return;
      i += 2;
    } else if (equals_folded(c[i], "setname") && i + 1 < c.count()) {
      if (!is_client_name(c[++i])) return c.out.error(kBadName);
      client.set_name(c[i]);  // takes effect even if a later option is refused, as in Redis
    } else {
      return c.out.error(fmt::format("ERR Syntax error in HELLO option '{}'", c[i]));
    }
  }
  if (client.server.tuning().has_password() && !client.authenticated) {
    return c.out.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  c.out.set_protocol(version);
  client.protocol.store_relaxed(version);
  answer_hello(c);
}

void select(call& c) {
  const auto db = parse_integer(c[1]);
  if (!db) return c.out.error(errors::kNotInteger);
  if (*db > INT32_MAX || *db < INT32_MIN) return c.out.error(errors::kNotInt32);
  if (*db != 0) return c.out.error(errors::kNoSuchDatabase);
  c.out.ok();
}

/// There are no transactions. The commands of one must not run one by one, so that all up to EXEC
/// or DISCARD are refused.
void multi(call& c) {
  sender(c).in_refused_transaction = true;
  c.out.error(
      "ERR MULTI is refused: this server has no transactions; send the commands without it");
}

void exec(call& c) {
  if (!std::exchange(sender(c).in_refused_transaction, false)) {
    return c.out.error("ERR EXEC without MULTI");
  }
  c.out.error("EXECABORT Transaction discarded because of previous errors.");
}

void discard(call& c) {
  sender(c).in_refused_transaction = false;
  c.out.error("ERR DISCARD without MULTI");  // a MULTI before it was refused
}

void reset(call& c) {
  client& client = sender(c);
  client.in_refused_transaction = false;
  client.set_name("");
  client.authenticated = !client.server.tuning().has_password();
  client.mode = client::replies::on;
  client.protocol.store_relaxed(2);
  c.out.set_protocol(2);
  c.out.status("RESET");
}

void time_command(call& c) {
  using namespace std::chrono;
  const auto us = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  c.out.array(2);
  c.out.bulk_integer(us / 1'000'000);
  c.out.bulk_integer(us % 1'000'000);
}

void shutdown(call& c) {
  bool save = false, nosave = false, at_once = false, abort = false;
  for (const auto word : c.arguments.subspan(1)) {
    if (equals_folded(word, "save"))
      save = true;
    else if (equals_folded(word, "nosave"))
      nosave = true;
    else if (equals_folded(word, "now") || equals_folded(word, "force"))
      at_once = true;
    else if (equals_folded(word, "abort"))
      abort = true;
    else
      return c.out.error(errors::kSyntax);
  }
  if ((save && nosave) || (abort && (save || nosave || at_once))) {
    return c.out.error(errors::kSyntax);
  }
  if (abort) return c.out.error("ERR No shutdown in progress.");  // none is ever delayed
  if (save) {
    return c.out.error(
        "ERR Errors trying to SHUTDOWN. Nothing can be saved: this server does "
        "not persist; use SHUTDOWN NOSAVE.");
  }
  sender(c).closing = true;
  // The server ends in the same way as by an operator's signal.
  ::kill(::getpid(), SIGTERM);
}

constexpr std::uint32_t kAnyone = kFast | kNoAuth;
constexpr std::uint32_t kTransaction = kEndsOrLeaves;
constexpr std::string_view kGroup = "connection";
constexpr command kCommands[] = {
    {"ping", -1, kFast, {}, ping, kGroup, "1.0.0", "Ping the server"},
    {"echo", 2, kFast, {}, echo, kGroup, "1.0.0", "Echo the given string"},
    {"quit", -1, kAnyone | kEndsOrLeaves, {}, quit, kGroup, "1.0.0", "Close the connection"},
    {"auth", -2, kAnyone, {}, auth, kGroup, "1.0.0", "Authenticate to the server"},
    {"hello", -1, kAnyone, {}, hello, kGroup, "6.0.0", "Handshake with Redis"},
    {"select",
     2,
     kFast,
     {},
     select,
     kGroup,
     "1.0.0",
     "Change the selected database for the current connection"},
    {"reset", 1, kAnyone | kEndsOrLeaves, {}, reset, kGroup, "6.2.0", "Reset the connection"},
    {"multi",
     1,
     kFast | kTransaction,
     {},
     multi,
     "transactions",
     "1.2.0",
     "Refused: no transactions"},
    {"exec", 1, kTransaction, {}, exec, "transactions", "1.2.0", "Ends what MULTI began"},
    {"discard",
     1,
     kFast | kTransaction,
     {},
     discard,
     "transactions",
     "2.0.0",
     "Ends what MULTI began"},
    {"time", 1, kFast, {}, time_command, "server", "2.6.0", "Return the current server time"},
    {"shutdown",
     -1,
     kAdmin,
     {},
     shutdown,
     "server",
     "1.0.0",
     "Synchronously save the dataset to disk and then shut down the server"},
};

}  // namespace

std::span<const command> session_commands() { return kCommands; }

}  // namespace isotherm::server
