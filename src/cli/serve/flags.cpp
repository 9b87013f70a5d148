#include "cli/serve/flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>

#include "cli/choice.hpp"
#include "cli/collector_flags.hpp"
#include "cli/serve/options.hpp"
#include "index/index.hpp"

namespace isotherm::cli {
namespace {

void add_place_flags(CLI::App& command, serve_options& o) {
  command.add_option("--bind", o.server.bind, "addresses to listen on; none with --port -1")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command.add_option("--port", o.server.port, "TCP port; 0: any free one; -1: no TCP")
      ->check(CLI::Range(-1, 65535).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--unixsocket", o.server.unix_socket, "path of a Unix socket")
      ->type_name("PATH");
  command
      .add_option("--unixsocketperm", o.unix_socket_mode,
                  "who may connect to it, in octal as 700; without: as the umask leaves it")
      ->type_name("MODE");
  command
      .add_option("--http", o.http_address,
                  "serve the live page and /metrics there: 127.0.0.1:9180; :9180 is on loopback; "
                  "port 0: any free one")
      ->type_name("HOST:PORT");
  command.add_flag("--http-control", o.http_control,
                   "let the page change the collector's options; on loopback only");
  command.add_option("--pidfile", o.pidfile, "where to write the process's number while it runs")
      ->type_name("PATH");
}

void add_client_flags(CLI::App& command, serve_options& o) {
  auto* word =
      command
          .add_option("--requirepass", o.password.word,
                      "password that clients must give; everyone on this machine sees it among "
                      "the processes")
          ->type_name("WORD");
  command
      .add_option("--requirepass-file", o.password.file,
                  fmt::format("file whose first line is that password; -: standard input. Without "
                              "either flag: the environment's {}",
                              kPasswordVariable))
      ->type_name("FILE")
      ->excludes(word);
  command.add_flag("--no-protected-mode", o.unprotected,
                   "serve clients from other machines also without a password");
  command.add_option("--maxclients", o.server.maxclients, "clients at a time")
      ->check(whole_number(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--maxmemory-clients", o.maxmemory_clients,
                  "close clients whose buffers together take more, as 64mb, or 5% of --maxmemory")
      ->type_name("SIZE")
      ->capture_default_str();
  command.add_option("--timeout", o.server.timeout_s, "seconds until idle clients go; 0: never")
      ->check(whole_number(0, INT32_MAX))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void add_store_flags(CLI::App& command, serve_options& o) {
  command
      .add_option("--index", o.index,
                  fmt::format("what holds the keys: {}", fmt::join(index::names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--expected-keys", o.expected_keys, "sizes a hash table at once")
      ->check(whole_number(0, std::uint64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--threads", o.server.threads, "event loops, which serve the clients")
      ->check(whole_number(1, 256))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--maxmemory", o.maxmemory,
                  "refuse writes beyond this DRAM, as 100mb; 0: no limit")
      ->type_name("SIZE")
      ->capture_default_str();
}

void add_node_flags(CLI::App& command, serve_options& o) {
  command
      .add_option("--node-placement", o.node_placement,
                  fmt::format("sinlk: keep the nodes of the index that are used most in fast "
                              "memory; of {}",
                              fmt::join(index::placed_names(), ", ")))
      ->check(CLI::IsMember({"none", "sinlk"}).description(""))
      ->type_name("none|sinlk")
      ->capture_default_str();
  command
      .add_option("--fast-memory", o.fast_memory,
                  "what nodes may take of it, as 512mb, or as 20% of all that they take")
      ->type_name("SIZE")
      ->capture_default_str();
  command.add_option("--fast-node", o.memory_nodes.fast, "number of the memory node that is fast")
      ->type_name("N");
  command.add_option("--slow-node", o.memory_nodes.slow, "number of the memory node that is slow")
      ->type_name("N");
}

void add_memory_flags(CLI::App& command, serve_options& o) {
  command
      .add_option("--manage", o.manage,
                  "what the object collector does: on: moves objects, so that cold bytes leave "
                  "DRAM; track: watches and reports; off: nothing, and the store pays nothing")
      ->check(CLI::IsMember({"off", "track", "on"}).description(""))
      ->type_name("off|track|on")
      ->capture_default_str();
  command
      .add_option("--cold-backing", o.cold_backing,
                  "where cold bytes go: anon: swap; file:DIR: an unlinked file in a directory on a "
                  "disk. Without: such a file in $STATE_DIRECTORY or /var/tmp, whichever first can "
                  "take it; else anon")
      ->type_name("anon|file:DIR");
  command.add_flag("--read-thread", o.server.read_thread,
                   "a kernel thread submits reads of cold records; it takes up to a processor");
  add_collector_flags(command, o.collector);
  command.add_flag("--huge-pages", o.huge_pages, "huge pages for HOT and the index nodes");
}

}  // namespace

void add_serve_flags(CLI::App& command, serve_options& o) {
  command.option_defaults()->group("Where it listens");
  add_place_flags(command, o);
  command.option_defaults()->group("Clients");
  add_client_flags(command, o);
  command.option_defaults()->group("The store");
  add_store_flags(command, o);
  command.option_defaults()->group("Cold bytes");
  add_memory_flags(command, o);
  command.option_defaults()->group("Fast and slow memory");
  add_node_flags(command, o);
}

}  // namespace isotherm::cli
