// isotherm serve: CrestDB, the Redis-protocol store whose cold bytes leave DRAM.
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/serve/flags.hpp"
#include "cli/serve/options.hpp"
#include "cli/serve/process.hpp"
#include "harness/lasting_index.hpp"
#include "server/collector_management.hpp"
#include "server/server.hpp"

namespace isotherm::cli {
namespace {

void say_ready(const serve_options& o, const server::server& running) {
  fmt::print("CrestDB: index {}, management {}, {} threads; nothing is persisted\n", o.index,
             o.manage, o.server.threads);
  for (const auto& line : o.said_of_cold) fmt::print("{}\n", line);
  for (const auto& address : o.server.bind) {
    fmt::print("listening on {} port {}\n", address, running.port());
  }
  if (!o.server.unix_socket.empty()) fmt::print("listening on {}\n", o.server.unix_socket);
  fmt::print("Ready to accept connections\n");
  std::fflush(stdout);
}

void run(const CLI::App& command, serve_options& o) {
  understand(command, o);
  const bool managed = o.manage != "off";
  const sigset_t ending = block_signals();
  fit_descriptors(o.server);
  if (managed)
    require(
        heap::configure({.cold = o.cold, .catch_read_errors = true, .huge_pages = o.huge_pages}));
  const auto made = harness::make_lasting_index(
      o.index, managed ? index::management::on : index::management::off, o.expected_keys);
  if (!made) refuse_words(made.error().message);  // there is none of that name
  store::database db(**made);
  std::unique_ptr<server::management> manager;
  std::unique_ptr<collector::object_collector> collecting;  // its windows report to `manager`
  if (managed) {
    collecting = std::make_unique<collector::object_collector>(o.collector);
    manager = server::make_management(*collecting, o.cold);
  }
  const pid_file written(o.pidfile);
  server::server serving(o.server, db, manager.get());
  if (collecting) require(collecting->start());
  const auto listening = serving.start();
  if (listening) {
    say_ready(o, serving);
    int signal = 0;
    sigwait(&ending, &signal);
    fmt::print("signal {}: closing clients and leaving\n", signal);
    serving.stop();
  }
  if (collecting) collecting->stop();
  require(listening);
}

}  // namespace

void add_serve(CLI::App& app) {
  auto* command =
      app.add_subcommand("serve", "a Redis-protocol store whose cold bytes leave DRAM (CrestDB)");
  auto chosen = std::make_shared<serve_options>();
  add_serve_flags(*command, *chosen);
  command->callback([command, chosen] { run(*command, *chosen); });
}

}  // namespace isotherm::cli
