// CLIENT and its subcommands.
#include <fmt/format.h>

#include "server/commands/families.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

std::string full_name(const command& named, const server& server) {
  const command_table& table = server.commands();
  return table.callables()[table.number_of(named)].name;
}

std::string client::flags() const {
  std::string letters;
  if (is_blocked.load_relaxed()) letters += 'b';
  if (address.ends_with(":0")) letters += 'U';
  if (keeps_place.load_relaxed()) letters += 'e';
  return letters.empty() ? "N" : letters;
}

std::string client::describe() const {
  const std::int64_t now = os::monotonic_ms();
  const command* command = last.load_relaxed();
  return fmt::format(
      "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 "
      "multi=-1 qbuf={} qbuf-free={} argv-mem={} multi-mem=0 rbs=0 rbp=0 obl={} oll=0 omem=0 "
      "tot-mem={} events=r cmd={} user=default redir=-1 resp={}",
      id, address, local_address, fd, name(), (now - born_ms) / 1000,
      (now - active_ms.load_relaxed()) / 1000, flags(), query_bytes.load_relaxed(),
      query_room.load_relaxed(), argument_bytes.load_relaxed(), output_bytes.load_relaxed(),
      held_bytes.load_relaxed(), command ? full_name(*command, server) : "NULL",
      protocol.load_relaxed());
}

namespace {

void client_id(call& c) { c.out.integer(static_cast<std::int64_t>(sender(c).id)); }

void client_info(call& c) { c.out.verbatim("txt", sender(c).describe() + "\n"); }

void client_getname(call& c) {
  const std::string name = sender(c).name();
  if (name.empty())
    c.out.null();
  else
    c.out.bulk(name);
}

void client_setname(call& c) {
  for (const char each : c[2]) {
    if (each < '!' || each > '~') {
      return c.out.error("ERR Client names cannot contain spaces, newlines or special characters.");
    }
  }
  sender(c).set_name(c[2]);
  c.out.ok();
}

/// Parses one of Redis' types of clients, of which only normal ones exist here: true for "normal".
/// nullopt after answering with an error for an unknown type.
std::optional<bool> parse_is_normal(call& c, std::string_view type) {
  if (equals_folded(type, "normal")) return true;
  for (const auto known : {"master", "replica", "slave", "pubsub"}) {
    if (equals_folded(type, known)) return false;
  }
  c.out.error(fmt::format("ERR Unknown client type '{}'", type));
  return std::nullopt;
}

void client_list(call& c) {
  std::vector<std::uint64_t> ids;
  bool none = false;
  if (c.count() == 4 && equals_folded(c[2], "type")) {
    const auto normal = parse_is_normal(c, c[3]);
    if (!normal) return;
    none = !*normal;
  } else if (c.count() > 3 && equals_folded(c[2], "id")) {
    for (const auto text : c.arguments.subspan(3)) {
      const auto id = parse_integer(text);
      if (!id) return c.out.error("ERR Invalid client ID");
      ids.push_back(static_cast<std::uint64_t>(*id));  // no client has a negative one
    }
  } else if (c.count() != 2) {
    return c.out.error(errors::kSyntax);
  }
  std::string text;
  for (const auto& client : sender(c).server.clients().all()) {
    if (none || (!ids.empty() && std::find(ids.begin(), ids.end(), client->id) == ids.end()))
      continue;
    text += client->describe() + "\n";
  }
  c.out.verbatim("txt", text);
}

/// The filters of CLIENT KILL.
struct victims {
  std::optional<std::uint64_t> id;
  std::string_view address, local_address;
  bool skips_me = true;
  bool none = false;  ///< a type that no client has

  bool include(const client& candidate, const client& me) const {
    return !none && (!id || candidate.id == *id) &&
           (address.empty() || candidate.address == address) &&
           (local_address.empty() || candidate.local_address == local_address) &&
           !(skips_me && &candidate == &me);
  }
};

/// Parses one filter of CLIENT KILL; answers with an error and returns false on a bad one.
bool parse_victim(call& c, std::string_view name, std::string_view value, victims& chosen) {
  const auto refuse = [&c](std::string_view why) {
    c.out.error(why);
    return false;
  };
  if (equals_folded(name, "id")) {
    const auto id = parse_integer(value);
    if (!id || *id < 1) return refuse("ERR client-id should be greater than 0");
    chosen.id = static_cast<std::uint64_t>(*id);
  } else if (equals_folded(name, "addr")) {
    chosen.address = value;
  } else if (equals_folded(name, "laddr")) {
    chosen.local_address = value;
  } else if (equals_folded(name, "type")) {
    const auto normal = parse_is_normal(c, value);
    if (!normal) return false;
    chosen.none |= !*normal;
  } else if (equals_folded(name, "user")) {
    if (value != "default") return refuse(fmt::format("ERR No such user '{}'", value));
  } else if (equals_folded(name, "skipme") &&
             (equals_folded(value, "yes") || equals_folded(value, "no"))) {
    chosen.skips_me = equals_folded(value, "yes");
  } else {
    return refuse(errors::kSyntax);
  }
  return true;
}

/// Parses all filters; answers with an error and returns nullopt on a bad one.
std::optional<victims> parse_victims(call& c) {
  victims chosen;
  for (std::size_t i = 2; i < c.count(); i += 2) {
    if (i + 1 == c.count()) {
      c.out.error(errors::kSyntax);
      return std::nullopt;
    }
    if (!parse_victim(c, c[i], c[i + 1], chosen)) return std::nullopt;
  }
  return chosen;
}

void client_kill(call& c) {
  client& me = sender(c);
  const bool old_form = c.count() == 3;
  victims chosen{.id = {}, .address = c[2], .local_address = {}, .skips_me = false, .none = false};
  if (!old_form) {
    const auto parsed = parse_victims(c);
    if (!parsed) return;
    chosen = *parsed;
  }
  std::int64_t killed = 0;
  for (const auto& client : me.server.clients().all()) {
    if (!chosen.include(*client, me)) continue;
    ++killed;
    if (client.get() == &me)
      me.closing = true;
    else
      me.server.kill(*client);
  }
  if (!old_form) return c.out.integer(killed);
  if (killed == 0) return c.out.error("ERR No such client");
  c.out.ok();
}

void client_reply(call& c) {
  client& client = sender(c);
  if (equals_folded(c[2], "on"))
    client.mode = client::replies::on;
  else if (equals_folded(c[2], "off"))
    client.mode = client::replies::off;
  else if (equals_folded(c[2], "skip")) {
    if (client.mode != client::replies::off) client.mode = client::replies::skip_next;
  } else {
    return c.out.error(errors::kSyntax);
  }
  c.out.ok();
}

void client_no_evict(call& c) {
  if (!equals_folded(c[2], "on") && !equals_folded(c[2], "off")) {
    return c.out.error(errors::kSyntax);
  }
  sender(c).keeps_place.store_relaxed(equals_folded(c[2], "on"));
  c.out.ok();
}

void client_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "GETNAME",
      "    Return the name of the current connection.",
      "ID",
      "    Return the ID of the current connection.",
      "INFO",
      "    Return information about the current client connection.",
      "KILL <ip:port>",
      "    Kill the connection of that address.",
      "KILL <option> <value> [<option> <value> [...]]",
      "    ID <client-id>, ADDR <ip:port>, LADDR <ip:port>, TYPE <type>, USER <user>,",
      "    SKIPME (YES|NO).",
      "LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB)|ID <client-id> ...]",
      "    Return information about client connections.",
      "NO-EVICT (ON|OFF)",
      "    Protect current client connection from eviction.",
      "REPLY (ON|OFF|SKIP)",
      "    Control the replies sent to the current connection.",
      "SETNAME <name>",
      "    Assign the name <name> to the current connection.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

constexpr std::string_view kGroup = "connection";
constexpr command kClient[] = {
    {"id",
     2,
     0,
     {},
     client_id,
     kGroup,
     "5.0.0",
     "Returns the client ID for the current connection"},
    {"info",
     2,
     0,
     {},
     client_info,
     kGroup,
     "6.2.0",
     "Returns information about the current client connection."},
    {"getname", 2, 0, {}, client_getname, kGroup, "2.6.9", "Get the current connection name"},
    {"setname", 3, 0, {}, client_setname, kGroup, "2.6.9", "Set the current connection name"},
    {"list", -2, kAdmin, {}, client_list, kGroup, "2.4.0", "Get the list of client connections"},
    {"kill", -3, kAdmin, {}, client_kill, kGroup, "2.4.0", "Kill the connection of a client"},
    {"reply",
     3,
     0,
     {},
     client_reply,
     kGroup,
     "3.2.0",
     "Instruct the server whether to reply to commands"},
    {"no-evict",
     3,
     kAdmin,
     {},
     client_no_evict,
     kGroup,
     "7.0.0",
     "Set client eviction mode for the current connection"},
    {"help", 2, 0, {}, client_help, kGroup, "5.0.0", "Show helpful text about the subcommands"},
};
constexpr command kCommands[] = {
    {"client",
     -2,
     0,
     {},
     nullptr,
     kGroup,
     "2.4.0",
     "A container for client connection commands",
     kClient},
};

}  // namespace

std::span<const command> client_commands() { return kCommands; }

}  // namespace isotherm::server
