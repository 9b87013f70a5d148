// COMMAND: what this server can do, for clients that ask.
#include <fmt/format.h>

#include <algorithm>

#include "server/commands/families.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

namespace {

constexpr std::string_view kServerGroup = "server";

struct flag_name {
  std::uint32_t flag;
  std::string_view name;
};
constexpr flag_name kFlagNames[] = {{kWrite, "write"},     {kReadOnly, "readonly"},
                                    {kDenyOom, "denyoom"}, {kAdmin, "admin"},
                                    {kFast, "fast"},       {kNoAuth, "no_auth"}};

/// A command, or one of a container's: "config|get".
struct named_command {
  const store::command* command;
  std::string_view container;  ///< "" for none

  std::string full_name() const {
    return container.empty() ? std::string(command->name)
                             : fmt::format("{}|{}", container, command->name);
  }
};

/// The command that "name" or "container|name" means.
std::optional<named_command> find_named(call& c, std::string_view name) {
  const auto bar = name.find('|');
  const command* found = sender(c).server.commands().find(name.substr(0, bar));
  if (!found) return std::nullopt;
  if (bar == name.npos) return named_command{found, ""};
  const command* sub = find_subcommand(*found, name.substr(bar + 1));
  if (!sub) return std::nullopt;
  return named_command{sub, found->name};
}

/// Redis's ACL categories of a command, which follow from its flags and group.
std::vector<std::string_view> categories_of(const named_command& of) {
  const command& command = *of.command;
  std::vector<std::string_view> found;
  const auto add = [&found](bool belongs, std::string_view name) {
    if (belongs) found.push_back(name);
  };
  const bool whole_keyspace = command.group == kServerGroup &&
                              command.flags & (kWrite | kReadOnly) && command.keys.first == 0;
  const bool own = command.run != nullptr;  // a container has no flags of its own
  add(own && (command.group == "generic" || whole_keyspace), "keyspace");
  add(command.flags & kReadOnly, "read");
  add(command.flags & kWrite, "write");
  add(command.group == "string", "string");
  add(command.group == "transactions", "transaction");
  add(command.flags & kAdmin, "admin");
  add(command.flags & kFast, "fast");
  add(!(command.flags & kFast), "slow");
  add(command.flags & (kAdmin | kDangerous), "dangerous");
  // COMMAND is about the server, but Redis files it here.
  const bool is_command = command.name == "command" || of.container == "command";
  add(own && (command.group == "connection" || is_command), "connection");
  return found;
}

void answer_info(call& c, const named_command& of) {
  const command& command = *of.command;
  c.out.array(10);
  c.out.bulk(of.full_name());
  c.out.integer(command.arity);
  std::vector<std::string_view> flags;
  for (const auto& each : kFlagNames) {
    if (command.flags & each.flag) flags.push_back(each.name);
  }
  c.out.set(flags.size());
  for (const auto flag : flags) c.out.status(flag);
  c.out.integer(command.keys.first);
  c.out.integer(command.keys.last);
  c.out.integer(command.keys.step);
  const auto categories = categories_of(of);
  c.out.set(categories.size());
  for (const auto name : categories) c.out.status(fmt::format("@{}", name));
  c.out.set(0);  // tips
  c.out.set(0);  // key specifications
  c.out.array(command.subcommands.size());
  for (const auto& sub : command.subcommands) answer_info(c, {&sub, command.name});
}

void command_all(call& c) {
  const auto& all = sender(c).server.commands().all();
  c.out.array(all.size());
  for (const command* each : all) answer_info(c, {each, ""});
}

void command_count(call& c) {
  c.out.integer(static_cast<std::int64_t>(sender(c).server.commands().all().size()));
}

void command_info(call& c) {
  if (c.count() == 2) return command_all(c);
  c.out.array(c.count() - 2);
  for (const auto name : c.arguments.subspan(2)) {
    if (const auto found = find_named(c, name))
      answer_info(c, *found);
    else
      c.out.null();
  }
}

void answer_docs(call& c, const named_command& of) {
  const command& command = *of.command;
  c.out.bulk(of.full_name());
  const bool contains = !command.subcommands.empty();
  c.out.map(contains ? 4 : 3);
  c.out.bulk("summary");
  c.out.bulk(command.summary);
  c.out.bulk("since");
  c.out.bulk(command.since);
  c.out.bulk("group");
  c.out.bulk(command.group);
  if (!contains) return;
  c.out.bulk("subcommands");
  c.out.map(command.subcommands.size());
  for (const auto& sub : command.subcommands) answer_docs(c, {&sub, command.name});
}

void command_docs(call& c) {
  std::vector<named_command> found;
  if (c.count() == 2) {
    for (const command* each : sender(c).server.commands().all()) found.push_back({each, ""});
  }
  for (const auto name : c.arguments.subspan(2)) {
    if (const auto known = find_named(c, name)) found.push_back(*known);
  }
  c.out.map(found.size());
  for (const auto& each : found) answer_docs(c, each);
}

void command_list(call& c) {
  const bool filters = c.count() == 5 && equals_folded(c[2], "filterby");
  const bool by_pattern = filters && equals_folded(c[3], "pattern");
  const bool by_category = filters && equals_folded(c[3], "aclcat");
  if (c.count() != 2 && !by_pattern && !by_category &&
      !(filters && equals_folded(c[3], "module"))) {
    return c.out.error(errors::kSyntax);
  }
  std::vector<std::string> names;
  const auto consider = [&](const named_command& each) {
    const auto is_category = [&](std::string_view name) { return equals_folded(c[4], name); };
    std::string name = each.full_name();
    if (c.count() == 2 || (by_pattern && matches_glob(c[4], name, letter_case::any)) ||
        (by_category && std::ranges::any_of(categories_of(each), is_category))) {
      names.push_back(std::move(name));
    }
  };
  for (const command* each : sender(c).server.commands().all()) {
    consider({each, ""});
    for (const command& sub : each->subcommands) consider({&sub, each->name});
  }
  c.out.array(names.size());
  for (const auto& name : names) c.out.bulk(name);
}

void command_getkeys(call& c) {
  const auto words = c.arguments.subspan(2);
  const command* command = sender(c).server.commands().find(words[0]);
  if (command && !command->subcommands.empty() && words.size() > 1) {
    command = find_subcommand(*command, words[1]);
  }
  if (!command) return c.out.error("ERR Invalid command specified");
  if (command->keys.first == 0) return c.out.error("ERR The command has no key arguments");
  if (!command->accepts(words.size())) {
    return c.out.error("ERR Invalid number of arguments specified for command");
  }
  std::vector<std::string_view> keys;
  const int last = command->keys.last < 0 ? static_cast<int>(words.size()) + command->keys.last
                                          : command->keys.last;
  for (int i = command->keys.first; i <= last; i += command->keys.step) {
    keys.push_back(words[static_cast<std::size_t>(i)]);
  }
  c.out.array(keys.size());
  for (const auto key : keys) c.out.bulk(key);
}

void command_help(call& c) {
  static constexpr std::string_view kLines[] = {
      "COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "(no subcommand)",
      "    Return details about all commands.",
      "COUNT",
      "    Return the total number of commands in this server.",
      "LIST [FILTERBY (PATTERN <pattern>|ACLCAT <category>|MODULE <name>)]",
      "    Return a list of all commands in this server, or of those that the filter lets through.",
      "INFO [<command-name> ...]",
      "    Return details about multiple commands.",
      "DOCS [<command-name> ...]",
      "    Return documentation details about multiple commands.",
      "GETKEYS <full-command>",
      "    Return the keys from a full command.",
      "HELP",
      "    Prints this help."};
  c.out.statuses(kLines);
}

constexpr std::string_view kGroup = kServerGroup;
constexpr command kCommand[] = {
    {"count", 2, 0, {}, command_count, kGroup, "2.8.13", "Get total number of commands"},
    {"info",
     -2,
     0,
     {},
     command_info,
     kGroup,
     "2.8.13",
     "Get array of specific command details, or all when no argument is given."},
    {"docs",
     -2,
     0,
     {},
     command_docs,
     kGroup,
     "7.0.0",
     "Get array of specific command documentation"},
    {"list", -2, 0, {}, command_list, kGroup, "7.0.0", "Get an array of command names"},
    {"getkeys", -4, 0, {}, command_getkeys, kGroup, "2.8.13", "Extract keys given a full command"},
    {"help", 2, 0, {}, command_help, kGroup, "5.0.0", "Show helpful text about the subcommands"},
};
constexpr command kCommands[] = {
    {"command", -1, 0, {}, command_all, kGroup, "2.8.13", "Get array of command details", kCommand},
};

}  // namespace

std::span<const command> introspection_commands() { return kCommands; }

}  // namespace isotherm::server
