#include "cli/serve/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include "cli/collector_flags.hpp"
#include "cli/fail.hpp"
#include "index/index.hpp"
#include "store/text.hpp"

namespace isotherm::cli {
namespace {

/// "700": permissions of a file in octal, 1 to 777.
std::optional<std::uint32_t> parse_mode(std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (problem != std::errc() || end != text.data() + text.size() || mode == 0 || mode > 0777) {
    return std::nullopt;
  }
  return mode;
}

void take_password(serve_options& o) {
  auto word = find_password(o.password);
  if (!word) fail(word.error().message);
  o.server.password = std::move(*word);
  if (!o.password.word) return;
  const std::string advice = fmt::format(
      "isotherm: --requirepass shows the password to everyone on this machine; "
      "--requirepass-file or {} does not\n",
      kPasswordVariable);
  std::fputs(advice.c_str(), stderr);
}

}  // namespace

void add_serve_flags(CLI::App& command, serve_options& o) {
  command.add_option("--index", o.index, fmt::format("{}", fmt::join(index::names(), "|")))
      ->capture_default_str();
  command.add_option("--threads", o.server.threads, "event loops")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_option("--bind", o.server.bind, "addresses to listen on; none with --port -1")
      ->capture_default_str();
  command.add_option("--port", o.server.port, "TCP port; 0: any free one; -1: no TCP")
      ->check(CLI::Range(-1, 65535))
      ->capture_default_str();
  command.add_option("--unixsocket", o.server.unix_socket, "path of a Unix socket");
  command.add_option("--unixsocketperm", o.unix_socket_mode,
                     "who may connect to it, in octal as 700; without: as the umask leaves it");
  command.add_option("--pidfile", o.pidfile, "where to write the process's number while it runs");
  auto* word =
      command.add_option("--requirepass", o.password.word,
                         "password that clients must give; everyone on this machine sees it "
                         "among the processes");
  command
      .add_option("--requirepass-file", o.password.file,
                  fmt::format("file whose first line is that password; -: standard input. Without "
                              "either flag: the environment's {}",
                              kPasswordVariable))
      ->excludes(word);
  command.add_flag("--no-protected-mode", o.unprotected,
                   "serve clients from other machines also without a password");
  command
      .add_option("--maxmemory", o.maxmemory, "refuse writes beyond this DRAM, as 100mb; 0: any")
      ->capture_default_str();
  command
      .add_option("--maxmemory-clients", o.maxmemory_clients,
                  "close clients whose buffers together take more, as 64mb, or 5% of --maxmemory")
      ->capture_default_str();
  command.add_option("--maxclients", o.server.maxclients, "clients at a time")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--timeout", o.server.timeout_s, "seconds until idle clients go; 0: never")
      ->check(CLI::Range(0, INT32_MAX))
      ->capture_default_str();
  command.add_option("--manage", o.manage, "off|track|on: what the object collector does")
      ->check(CLI::IsMember({"off", "track", "on"}))
      ->capture_default_str();
  add_collector_flags(command, o.collector);
  command.add_option("--cold-backing", o.cold_backing, "anon|file:DIR")->capture_default_str();
  command.add_flag("--huge-pages", o.huge_pages, "huge pages for HOT and the index nodes");
  command.add_option("--expected-keys", o.expected_keys, "sizes a hash table")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
}

void understand(serve_options& o) {
  const auto maxmemory = store::parse_memory(o.maxmemory);
  if (!maxmemory) fail(fmt::format("--maxmemory is '{}', but takes bytes or 100mb", o.maxmemory));
  o.server.maxmemory_bytes = *maxmemory;
  const auto clients = server::parse_clients_limit(o.maxmemory_clients);
  if (!clients || *clients < -100) {
    fail(fmt::format("--maxmemory-clients is '{}', but takes bytes, 64mb or 5%",
                     o.maxmemory_clients));
  }
  o.server.maxmemory_clients = *clients;
  o.server.protected_mode = !o.unprotected;
  if (!o.unix_socket_mode.empty()) {
    const auto mode = parse_mode(o.unix_socket_mode);
    if (!mode) {
      fail(fmt::format("--unixsocketperm is '{}', but takes permissions in octal, as 700",
                       o.unix_socket_mode));
    }
    o.server.unix_socket_mode = *mode;
  }
  if (o.server.port < 0) o.server.bind.clear();
  if (o.server.bind.empty() && o.server.unix_socket.empty()) {
    fail("nothing to listen on: give --port or --unixsocket");
  }
  const auto cold = heap::cold_backing::parse(o.cold_backing);
  if (!cold) fail("--cold-backing: " + cold.error().message);
  o.cold = *cold;
  o.collector.manage = o.manage == "on" ? collector::mode::on : collector::mode::track;
  take_password(o);
}

}  // namespace isotherm::cli
