#include "cli/serve/flags.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/collector_flags.hpp"
#include "cli/serve/options.hpp"
#include "heap/configure.hpp"
#include "index/index.hpp"
#include "placement/registry.hpp"

namespace isotherm::cli {
namespace {

void add_place_flags(command c, serve_options& o) {
  c.add("--bind", o.server.bind, "addresses to listen on; none with --port -1")
      .value_name("ADDRESS");
  c.add("--port", o.server.port, "TCP port; 0: any free one; -1: no TCP", -1, 65535);
  c.add("--unixsocket", o.server.unix_socket, "path of a Unix socket").value_name("PATH");
  c.add("--unixsocketperm", o.unix_socket_mode,
        "permissions of that socket, in octal as 700; without this flag: as the umask has it")
      .value_name("MODE");
  c.add("--http", o.http_address,
        "serve the live page and /metrics there: 127.0.0.1:9180; :9180 is on loopback; port 0: any "
        "free one")
      .value_name("HOST:PORT");
  c.add("--http-host", o.http_names,
        "names by which browsers may ask for the page, beside this machine's: of a proxy before it")
      .value_name("NAME");
  c.add_switch("--http-control", o.http_control,
               "let the page change the collector's options; on loopback only");
  c.add("--pidfile", o.pidfile, "file that holds the number of the process while it runs")
      .value_name("PATH");
}

void add_client_flags(command c, serve_options& o) {
  c.add("--logfile", o.log_file,
        "file for the log, to which lines are appended with their time; default: standard output "
        "and, for warnings, standard error")
      .value_name("FILE");
  c.add("--loglevel", o.log_level,
        "least level of lines that are logged: debug, verbose, notice "
        "or warning");
  const option word = c.add("--requirepass", o.password.word,
                            "password that clients must give; everyone on this machine sees it "
                            "among the processes")
                          .value_name("WORD");
  c.add("--requirepass-file", o.password.file,
        fmt::format("file whose first line is that password; -: standard input. Without either "
                    "flag: the environment's {}",
                    kPasswordVariable))
      .value_name("FILE")
      .excludes(word);
  c.add_switch("--no-protected-mode", o.unprotected,
               "serve clients from other machines also without a password");
  c.add("--maxclients", o.server.maxclients, "clients at a time", std::uint64_t{1},
        std::uint64_t{1000000});
  c.add("--maxmemory-clients", o.maxmemory_clients,
        "close clients whose buffers together take more, as 64mb, or a share of --maxmemory, "
        "--memory-target or the machine's memory, whichever is least; 0: no limit")
      .value_name("SIZE");
  c.add("--timeout", o.server.timeout_s, "seconds after which an idle client is closed; 0: never",
        std::uint64_t{0}, std::uint64_t{INT32_MAX})
      .value_name("SECONDS");
}

void add_store_flags(command c, serve_options& o) {
  c.add("--index", o.index,
        fmt::format("structure that holds the keys: {}", fmt::join(index::names(), ", ")))
      .value_name("NAME");
  c.add("--expected-keys", o.expected_keys, "size of a hash table at the start, in keys",
        std::size_t{0}, std::size_t{1} << 40);
  c.add("--threads", o.server.threads, "event loops, which serve the clients", 1u, 256u);
  c.add("--maxmemory", o.maxmemory, "refuse writes beyond this DRAM, as 100mb; 0: no limit")
      .value_name("SIZE");
}

void add_node_flags(command c, serve_options& o) {
  std::vector<std::string> words = {"none"}, meanings;
  for (const placement::placement_kind* const each : placement::placement_kinds()) {
    words.emplace_back(each->name);
    meanings.push_back(fmt::format("{}: {}", each->name, each->help));
  }
  c.add_choice(
      "--node-placement", o.node_placement, words,
      fmt::format("{}; for {}", fmt::join(meanings, "; "), fmt::join(index::placed_names(), ", ")));
  c.add("--fast-memory", o.fast_memory,
        "fast memory for nodes, as 512mb, or as 20% of all that nodes take")
      .value_name("SIZE");
  c.add("--fast-node", o.memory_nodes.fast, "number of the memory node that is fast");
  c.add("--slow-node", o.memory_nodes.slow, "number of the memory node that is slow");
}

void add_memory_flags(command c, serve_options& o) {
  c.add_choice("--manage", o.manage, {"off", "track", "on"},
               "the object collector; on: moves objects, so that cold bytes leave DRAM; track: "
               "watches and reports; off: does not run, and costs nothing");
  c.add("--cold-backing", o.cold_backing,
        fmt::format("place of cold bytes; {}. Without this flag: such a file in $STATE_DIRECTORY "
                    "or /var/tmp, whichever first can take it; else anon",
                    heap::cold_backing::help()))
      .value_name(heap::cold_backing::forms("|"));
  c.add("--cold-profile", o.cold_profile,
        "limit writes to cold memory on a memory node or behind dax: by the BRAID profile of its "
        "device, which device probe -o wrote, or by that of an emulated one, as emu:pmem")
      .value_name("FILE");
  c.add("--hot-node", o.hot_node,
        "number of the memory node for what is not cold, as long as that node has room")
      .value_name("N");
  c.add_switch("--read-thread", o.server.read_thread,
               "a kernel thread submits reads of cold records; it takes up to a processor");
  add_collector_flags(c, o.collector);
  c.add_switch("--huge-pages", o.huge_pages, "huge pages for HOT and the index nodes");
}

}  // namespace

void add_serve_flags(command c, serve_options& o) {
  c.group("Where it listens");
  add_place_flags(c, o);
  c.group("Clients");
  add_client_flags(c, o);
  c.group("The store");
  add_store_flags(c, o);
  c.group("Cold bytes");
  add_memory_flags(c, o);
  c.group("Fast and slow memory");
  add_node_flags(c, o);
}

}  // namespace isotherm::cli
