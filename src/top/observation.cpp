#include "top/observation.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <string_view>

#include "heap/kind.hpp"
#include "os/clock.hpp"

namespace isotherm::top {
namespace {

using fields = observation::fields;

constexpr std::chrono::seconds kPatience{5};

template <class T>
T number_in(const fields& all, const std::string& name) {
  T value = 0;
  if (const auto found = all.find(name); found != all.end()) {
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::string text_in(const fields& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? std::string() : found->second;
}

std::vector<heap_map> heaps_in(const fields& pages) {
  std::vector<heap_map> heaps;
  for (const heap::kind where : heap::kKinds) {
    const std::string name(heap::name_of(where));
    heaps.push_back({.name = name,
                     .pages = number_in<std::uint64_t>(pages, name + ".pages"),
                     .pages_per_cell = number_in<std::uint64_t>(pages, name + ".pages_per_cell"),
                     .extent_bytes = number_in<std::uint64_t>(pages, name + ".extent_bytes"),
                     .resident_bytes = number_in<std::uint64_t>(pages, name + ".resident_bytes"),
                     .cells = text_in(pages, name + ".cells")});
  }
  return heaps;
}

/// The server's words with what to do about them.
base::error explained(base::error problem) {
  const std::string_view said = problem.message;
  if (said.contains("NOAUTH")) {
    problem.message = "the server asks for a password: put it into the variable REDISCLI_AUTH";
  } else if (said.contains("WRONGPASS")) {
    problem.message = "the server refuses the password of REDISCLI_AUTH, or the user of --user";
  } else if (said.contains("unknown command")) {
    problem.message = "that server is none of isotherm serve: it knows no command ISOTHERM";
  } else if (said.contains("temporarily unavailable")) {
    problem.message = fmt::format("the server did not answer for {} s", kPatience.count());
  }
  return problem;
}

}  // namespace

double observation::number(const std::string& name) const {
  return number_in<double>(statistics, name);
}

double observation::setting(const std::string& name) const {
  return number_in<double>(configuration, name);
}

std::string observation::text(const std::string& name) const { return text_in(statistics, name); }

bool observation::has_threshold() const { return text_in(configuration, "policy") == "published"; }

base::result<tool::address> parse_server(const std::string& text) {
  if (text.starts_with("tcp:") || text.starts_with("unix:")) {
    return tool::address::parse(text);
  }
  const bool is_path = text.contains('/') || !text.contains(':');
  auto where = tool::address::parse((is_path ? "unix:" : "tcp:") + text);
  if (where) return where;
  return std::unexpected(
      base::error{fmt::format("'{}' is neither a socket's path nor HOST:PORT", text)});
}

base::result<observer> observer::connect(const tool::address& where, const credentials& as) {
  auto opened = tool::redis_connection::open(where);
  if (!opened) return std::unexpected(std::move(opened).error());
  observer made(std::move(*opened));
  made.connection_.wait_at_most(kPatience);
  if (!as.password.empty()) {
    ++made.commands_;
    if (auto done = made.connection_.authenticate(as.user, as.password); !done) {
      return std::unexpected(explained(std::move(done).error()));
    }
  }
  return made;
}

base::result<fields> observer::ask(const std::string& command) {
  ++commands_;
  auto found = connection_.ask_fields(command);
  if (!found) return std::unexpected(explained(std::move(found).error()));
  return found;
}

base::result<observation> observer::look() {
  observation seen;
  auto statistics = ask("ISOTHERM STATS");
  if (!statistics) return std::unexpected(std::move(statistics).error());
  seen.statistics = std::move(*statistics);
  seen.at_seconds = static_cast<double>(os::monotonic_ns()) / 1e9;
  seen.own_commands = commands_;
  if (seen.text("manage") != "off") {
    auto configuration = ask("ISOTHERM CONFIG GET *");
    if (!configuration) return std::unexpected(std::move(configuration).error());
    seen.configuration = std::move(*configuration);
    const auto pages = ask("ISOTHERM PAGES");
    if (!pages) return std::unexpected(pages.error());
    seen.heaps = heaps_in(*pages);
  }
  return seen;
}

}  // namespace isotherm::top
