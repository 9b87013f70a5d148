// isotherm serve: CrestDB, the Redis-protocol store whose cold bytes leave DRAM.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>

#include "cli/collector_flags.hpp"
#include "cli/commands.hpp"
#include "cli/lasting_index.hpp"
#include "cli/serve_password.hpp"
#include "index/index.hpp"
#include "server/collector_management.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::cli {

namespace {

struct serve_options {
  server::options server;
  std::string index = "hash-pugh";
  std::string manage = "on";
  std::string maxmemory = "0", maxmemory_clients = "0";
  std::string cold_backing = "anon";
  bool huge_pages = false;
  bool unprotected = false;
  password_flags password;
  std::string unix_socket_mode;
  std::string pidfile;
  std::size_t expected_keys = 0;
  heap::cold_backing cold;
  collector::options collector;
};

void add_flags(CLI::App& command, serve_options& o) {
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

void require(const base::result<void>& done) {
  if (!done) fail(done.error().message);
}

/// Lifts the limit of open files as far as the clients need it, or takes fewer clients.
void fit_descriptors(server::options& chosen) {
  // Standard streams, listeners, the cold file, /proc; an epoll set and a wake-up a thread.
  const std::uint64_t own = 32 + 2 * std::uint64_t{chosen.threads};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (limit.rlim_cur < chosen.maxclients + own) {
    limit.rlim_cur = std::min<rlim_t>(chosen.maxclients + own, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= chosen.maxclients + own) return;
  if (limit.rlim_cur <= own) {
    fail(
        fmt::format("the limit of open files is {}, but more than {} are needed: raise it "
                    "(ulimit -n) or give fewer --threads",
                    limit.rlim_cur, own));
  }
  chosen.maxclients = limit.rlim_cur - own;
  fmt::print("limit of open files is {}: taking {} clients at most\n", limit.rlim_cur,
             chosen.maxclients);
}

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

/// Turns texts into values; every mistake is found before anything starts.
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
  o.collector.what = o.manage == "on" ? collector::mode::on : collector::mode::track;
}

void say_ready(const serve_options& o, const server::server& running) {
  fmt::print("CrestDB: index {}, management {}, {} threads; nothing is persisted\n", o.index,
             o.manage, o.server.threads);
  for (const auto& address : o.server.bind) {
    fmt::print("listening on {} port {}\n", address, running.port());
  }
  if (!o.server.unix_socket.empty()) fmt::print("listening on {}\n", o.server.unix_socket);
  fmt::print("Ready to accept connections\n");
  std::fflush(stdout);
}

/// The process's number in a file, for as long as this lives.
class pid_file {
 public:
  explicit pid_file(const std::string& path) : path_(path) {
    if (path_.empty()) return;
    std::ofstream file(path_);
    file << ::getpid() << '\n';
    file.flush();
    if (!file) fail(base::system_error("cannot write the pid file " + path_, errno).message);
  }
  ~pid_file() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  pid_file(const pid_file&) = delete;
  pid_file& operator=(const pid_file&) = delete;

 private:
  const std::string path_;
};

/// The signals that end the server, which the end of a terminal's session (SIGHUP) is not; every
/// thread started later inherits the mask.
sigset_t block_signals() {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a log over the limit of file sizes loses lines, not the data
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

void run(serve_options& o) {
  understand(o);
  take_password(o);
  const bool managed = o.manage != "off";
  const sigset_t ending = block_signals();
  fit_descriptors(o.server);
  if (managed)
    require(
        heap::configure({.cold = o.cold, .catch_read_errors = true, .huge_pages = o.huge_pages}));
  const auto made = make_lasting_index(o.index, managed, o.expected_keys);
  if (!made) fail(made.error().message);
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
  add_flags(*command, *chosen);
  command->callback([chosen] { run(*chosen); });
}

}  // namespace isotherm::cli
