// isotherm serve: CrestDB, the Redis-protocol store whose cold bytes leave DRAM.
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/serve/flags.hpp"
#include "cli/serve/options.hpp"
#include "cli/serve/process.hpp"
#include "heap/usage.hpp"
#include "index/index.hpp"
#include "live/http_server.hpp"
#include "placement/registry.hpp"
#include "server/live_view.hpp"
#include "server/log.hpp"
#include "server/management/collector_management.hpp"
#include "server/server.hpp"

namespace isotherm::cli {
namespace {

/// Null where it is not asked for.
std::unique_ptr<live::http_server> open_page(const serve_options& o, server::live_view& shown) {
  if (!o.http) return nullptr;
  auto opened = live::http_server::start(
      *o.http, shown, o.http_control ? live::control::allowed : live::control::refused,
      o.http_names);
  if (!opened) fail(opened.error().message);
  return std::move(*opened);
}

void say(std::string_view line) { server::log(server::log_level::notice, line); }

void say_ready(const serve_options& o, const server::server& running,
               const live::http_server* page) {
  say(fmt::format("CrestDB: index {}, management {}, {} threads; nothing is persisted", o.index,
                  o.manage, o.server.threads));
  if (o.node_placement != "none") {
    say(fmt::format("nodes of the index: {} in fast memory, by {}", o.fast_memory,
                    o.node_placement));
  }
  for (const auto& line : o.said_of_cold) say(line);
  if (o.server.read_thread && !running.has_read_thread()) {
    say(fmt::format(
        "no kernel thread submits reads (--read-thread): it needs io_uring of Linux 5.13, "
        "and cold memory in a file; they go by: {}",
        running.read_engine()));
  }
  for (const auto& address : running.addresses()) {
    say(fmt::format("listening on {} port {}", address, running.port()));
  }
  if (!o.server.unix_socket.empty()) say(fmt::format("listening on {}", o.server.unix_socket));
  if (page) say(fmt::format("live page at {}", page->url()));
  say("Ready to accept connections");
}

/// The index, and the placement of its nodes if one is asked for; both last as long as the process.
struct used_index {
  index::any_index* index = nullptr;
  placement::placed_tree* nodes = nullptr;
  placement::node_placement* placer = nullptr;
};

/// A hash table lies in the addresses of the index nodes, and grows to twice its keys' number.
void check_expected_keys(const serve_options& o) {
  constexpr std::uint64_t kBytesOfKey = 64;
  const heap::range nodes = heap::range_of(heap::kind::node);
  const std::uint64_t most = (nodes.end - nodes.begin) / kBytesOfKey;
  if (o.expected_keys <= most) return;
  refuse_words(
      fmt::format("--expected-keys is {}, but index nodes have addresses for {} (ulimit -v)",
                  o.expected_keys, most));
}

used_index make_index(const serve_options& o) {
  const auto kind = o.manage == "off" ? index::management::off : index::management::on;
  if (kind == index::management::on) check_expected_keys(o);
  if (o.node_placement == "none") {
    const auto made = index::make_lasting(o.index, kind, o.expected_keys);
    if (!made) refuse_words(made.error().message);  // there is none of that name
    return {.index = *made};
  }
  require(placement::open_node_memory(o.memory_nodes));
  static const auto placer = placement::make_placement(o.node_placement, o.fast_size);
  const auto made = index::make_lasting_placed(o.index, kind, *placer);
  if (!made) refuse_words(made.error().message);
  return {.index = (*made)->index.get(), .nodes = (*made)->nodes, .placer = placer.get()};
}

void run(const command& described, serve_options& o) {
  understand(described, o);
  require(server::open_log(o.log_file));
  server::set_log_level(o.log_least);
  const bool managed = o.manage != "off";
  const sigset_t ending = block_signals();
  fit_descriptors(o.server, o.http ? live::http_server::kDescriptors : 0);
  if (managed) {
    heap::options heaps;
    heaps.cold = o.cold;
    heaps.hot_node = o.hot_node;
    heaps.huge_pages = o.huge_pages;
    require(heap::configure(heaps));
  }
  set_up_allocator(o.server);  // the arena of index nodes too, which was made with the heaps
  const used_index used = make_index(o);
  store::database db(*used.index);
  std::unique_ptr<server::management> manager;
  std::unique_ptr<collector::object_collector> collecting;  // its windows report to `manager`
  if (managed) {
    collecting = std::make_unique<collector::object_collector>(o.collector);
    manager = server::make_management(*collecting, o.cold);
  }
  check_target(o.collector.memory_target_bytes);
  const pid_file written(o.pidfile);
  server::server serving(o.server, db, manager.get(), used.placer);
  if (collecting) require(collecting->start());
  if (used.placer) require(used.placer->start(*used.nodes));
  server::live_view shown(serving, collecting.get());
  const auto listening = serving.start();
  if (listening) {
    auto page = open_page(o, shown);
    say_ready(o, serving, page.get());
    int signal = 0;
    sigwait(&ending, &signal);
    say(fmt::format("signal {}: closing clients and leaving", signal));
    page.reset();
    serving.stop();
  }
  if (used.placer) used.placer->stop();
  if (collecting) collecting->stop();
  require(listening);
}

}  // namespace

void add_serve(command root) {
  const command c =
      root.subcommand("serve", "a Redis-protocol store whose cold bytes leave DRAM (CrestDB)");
  auto chosen = std::make_shared<serve_options>();
  add_serve_flags(c, *chosen);
  c.action([c, chosen] { run(c, *chosen); });
}

}  // namespace isotherm::cli
