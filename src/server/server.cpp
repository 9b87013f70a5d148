#include "server/server.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <functional>

#include "heap/allocator.hpp"
#include "heap/usage.hpp"
#include "os/clock.hpp"
#include "os/memory/available_memory.hpp"
#include "os/memory/process_memory.hpp"
#include "server/commands/families.hpp"
#include "server/log.hpp"
#include "store/text.hpp"
#include "sync/retire.hpp"

namespace isotherm::server {

namespace {

constexpr int kAcceptedAtOnce = 64;

// Expired keys are removed on a thread of their own: for a millisecond of processor time ten times
// a second and, while more than one in ten of the keys that it looks at has expired, up to a
// quarter of a processor. Waiting for the disk takes no processor time; it is bounded, because that
// thread has other work too. If the quarter does not suffice, writers help
// (database::set_writers_sweep()).
constexpr std::chrono::milliseconds kUpkeepPause{75};
constexpr std::uint64_t kSweepSliceNs = 1'000'000, kSweepCpuNs = 25'000'000;
constexpr std::uint64_t kSweepWallNs = 100'000'000;
constexpr std::size_t kWorthwhile = 10;  // goes on while more than one in so many keys has expired
constexpr std::uint64_t kReclaimedAtOnceUs = 100'000;

/// The clock of a slice of the sweep: its millisecond is one of processor time, or a hundred of
/// waiting for the disk.
std::uint64_t sweep_clock() noexcept { return os::thread_cpu_ns() + os::monotonic_ns() / 100; }

constexpr std::string_view kDenied =
    "-DENIED Redis is running in protected mode because protected mode is enabled and no password "
    "is set for the default user. In this mode connections are only accepted from the loopback "
    "interface. If you want to connect from external computers, start the server with "
    "--requirepass-file, or with --no-protected-mode.\r\n";

/// Does as Redis with tcp-keepalive 300: a peer that is gone is noticed after 300 + 3 * 100
/// seconds.
void keep_alive(int fd) {
  const auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, settings::kKeepaliveSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, settings::kKeepaliveSeconds / 3);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

void refuse(int fd, std::string_view line) {
  [[maybe_unused]] const ssize_t sent = ::send(fd, line.data(), line.size(), MSG_NOSIGNAL);
  ::close(fd);
}

/// Builds no line that is left out.
void log_client(std::string_view event, const client& client) {
  if (chosen_log_level() > log_level::verbose) return;
  log(log_level::verbose, fmt::format("{} client {} from {}", event, client.id, client.address));
}

void say(const std::optional<std::string>& line) {
  if (line) log(log_level::warning, *line);
}

}  // namespace

std::string error_for(const std::exception& failed) {
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&failed) != nullptr;
  return is_memory ? std::string(store::errors::kNoRoom) : fmt::format("ERR {}", failed.what());
}

server::server(options chosen, store::database& db, management* manager,
               placement::node_placement* nodes)
    : options_(std::move(chosen)),
      settings_(options_),
      db_(db),
      manager_(manager),
      nodes_(nodes),
      table_({store::string_commands(), store::range_commands(), store::counter_commands(),
              store::key_commands(), store::expiry_commands(), store::keyspace_commands(),
              store::object_commands(), session_commands(), client_commands(), config_commands(),
              info_commands(), introspection_commands(), isotherm_commands(), slow_commands()}),
      started_ms_(store::now_ms()),
      machine_bytes_(os::available_memory() + os::read_resident_set().all_bytes) {}

server::~server() { stop(); }

base::result<void> server::start() {
  for (const auto& address : options_.bind) {
    auto made = listener::on_tcp(address, port_ ? port_ : options_.port);
    if (!made) return std::unexpected(made.error());
    if (made->is_missing()) continue;
    addresses_.push_back(address.substr(address.starts_with('-') ? 1 : 0));
    port_ = made->port();
    listeners_.push_back(std::move(*made));
  }
  follow_clients_limit();
  if (!options_.bind.empty() && addresses_.empty()) {
    return std::unexpected(base::error{"this host has none of the addresses of --bind"});
  }
  const std::size_t tcp = listeners_.size();
  if (!options_.unix_socket.empty()) {
    auto made = listener::on_unix(options_.unix_socket, options_.unix_socket_mode);
    if (!made) return std::unexpected(made.error());
    listeners_.push_back(std::move(*made));
  }
  for (unsigned i = 0; i < std::max(1u, options_.threads); ++i) {
    loops_.push_back(std::make_unique<event_loop>(*this));
  }
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    const std::string path = i < tcp ? "" : options_.unix_socket;
    loops_[0]->watch_listener(listeners_[i].fd(),
                              [this, path](int fd) { return accept_from(fd, path); });
  }
  for (auto& loop : loops_) {
    if (auto started = loop->start(); !started) return started;
  }
  return upkeep_.start("iso-background", [this] {
    do {
      upkeep();
    } while (upkeep_.rest_for(kUpkeepPause));
  });
}

void server::stop() {
  for (auto& loop : loops_) loop->stop();
  long_work_.stop();
  disk_work_.stop();
  large_work_.stop();
  upkeep_.stop();
  loops_.clear();
  listeners_.clear();
  for (gathered_report* each : reports()) say(each->rest());
}

std::string_view server::read_engine() const noexcept { return loops_.front()->read_engine(); }

std::uint64_t server::loop_major_faults() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->major_faults();
  return sum;
}

bool server::accept_from(int listening, const std::string& unix_path) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const int fd = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      admit(fd, unix_path);
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) return false;
    if (errno == EAGAIN) return true;
  }
  return true;
}

void server::admit(int fd, const std::string& unix_path) {
  if (settings_.protected_mode.load_relaxed() && !settings_.has_password() && !is_local_peer(fd)) {
    statistics.add("rejected_connections");
    return refuse(fd, kDenied);
  }
  if (clients_.size() >= settings_.maxclients.load_relaxed()) {
    statistics.add("rejected_connections");
    return refuse(fd, "-ERR max number of clients reached\r\n");
  }
  const int on = 1;
  if (unix_path.empty()) {
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    keep_alive(fd);
  }
  auto added = std::make_shared<client>(*this, next_id_.fetch_add_relaxed(1), fd,
                                        peer_address(fd, unix_path), local_address(fd, unix_path));
  added->authenticated = !settings_.has_password();  // and stays so when a password is set later
  statistics.add("connections");
  log_client("accepted", *added);
  added->loop = loops_[next_loop_++ % loops_.size()].get();
  clients_.add(added);  // from here on other threads may kill it
  added->loop->adopt(added);
}

void server::kill(client& client) {
  client.killed.store_release(true);
  client.loop->end(client.id);
}

void server::defer(client& client, std::function<void(store::reply&)> work) {
  defer_to(long_work_, client, std::move(work));
}

void server::defer_to_disk(client& client, std::function<void(store::reply&)> work) {
  defer_to(disk_work_, client, std::move(work));
}

void server::defer_large(client& client, std::function<void(store::reply&)> work) {
  defer_to(large_work_, client, std::move(work));
}

void server::defer_to(background& thread, client& client, std::function<void(store::reply&)> work) {
  thread.run([id = client.id, loop = client.loop, protocol = client.protocol.load_relaxed(),
              limit = settings_.output_hard_limit.load_relaxed(), work = std::move(work)] {
    std::string text;
    store::reply out(text);
    out.set_protocol(protocol);
    out.set_limit(limit);
    try {
      work(out);
    } catch (const std::exception& failed) {
      text.clear();
      out.error(error_for(failed));
    }
    loop->finish(id, out.overflowed() ? std::nullopt : std::optional(std::move(text)));
  });
  client.defers = true;  // the work ends on this thread, which is busy here
}

/// Looks at what the limit depends on.
void server::follow_clients_limit() {
  const std::uint64_t target = manager_ ? manager_->memory_target_bytes() : 0;
  clients_limit_.store_relaxed(settings_.clients_limit_bytes(
      target != 0 ? std::min(target, machine_bytes_) : machine_bytes_));
}

std::uint64_t server::clients_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->held_bytes();
  return sum;
}

std::uint64_t server::room_for_reads_ahead() const noexcept {
  const std::uint64_t limit = clients_limit_.load_relaxed();
  if (limit == 0) return ~std::uint64_t{0};
  return limit / 4 - std::min(limit / 4, clients_bytes());
}

void server::hold_clients_to_limit() {
  const std::uint64_t limit = clients_limit_.load_relaxed();
  if (limit == 0 || clients_bytes() <= limit) return;
  const std::unique_lock lock(evicting_, std::try_to_lock);
  if (!lock) return;  // another loop is doing so
  try {
    evict_clients(limit);
  } catch (const std::exception&) {
    // The list found no memory: the next round tries again.
  }
}

void server::evict_clients(std::uint64_t limit) {
  std::uint64_t total = 0;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<client>>> largest;
  for (auto& client : clients_.all()) {
    if (client->keeps_place.load_relaxed() || client->killed.load_relaxed()) continue;
    const std::uint64_t bytes = client->held_bytes.load_relaxed();
    total += bytes;
    largest.emplace_back(bytes, std::move(client));
  }
  if (total <= limit) return;
  std::sort(largest.begin(), largest.end(), std::greater<>());
  for (auto at = largest.begin(); at != largest.end() && total > limit; ++at) {
    total -= at->first;
    statistics.add("evicted_clients");
    say(evicted_.note(at->second->address, store::now_ms()));
    kill(*at->second);
  }
}

void server::forget(const client& client) {
  log_client("closed", client);
  clients_.remove(client.id);
}

std::vector<std::string> server::loggable(const store::command& called,
                                          std::span<const std::string_view> arguments) {
  constexpr std::string_view kRedacted = "(redacted)";
  std::vector<std::string> told = slow_log::shortened(arguments);
  for (std::size_t i = 1; i < told.size(); ++i) {
    const bool is_secret =
        (called.flags & store::kNoAuth) != 0 || store::equals_folded(told[i - 1], "requirepass");
    if (is_secret) told[i] = kRedacted;
  }
  return told;
}

void server::note_slow(const client& client, const store::command& called,
                       std::vector<std::string> arguments, std::uint64_t ns) {
  const std::int64_t slow_us = settings_.slow_us.load_relaxed(), now_s = store::now_ms() / 1000;
  if (slow_us >= 0 && ns / 1'000 >= static_cast<std::uint64_t>(slow_us)) {
    slow.add({.id = 0,
              .time_s = now_s,
              .us = ns / 1'000,
              .arguments = std::move(arguments),
              .address = client.address,
              .client_name = client.name()},
             settings_.slow_entries.load_relaxed());
  }
  const std::uint64_t latency_ms = settings_.latency_ms.load_relaxed(), ms = ns / 1'000'000;
  if (latency_ms > 0 && ms >= latency_ms) {
    latency.add(called.flags & store::kFast ? "fast-command" : "command", {now_s, ms});
  }
}

command_counts server::counted_of(std::size_t number) const {
  command_counts all;
  for (const auto& loop : loops_) all += loop->commands().of(number);
  return all;
}

command_counts server::counts_of(std::size_t number) const {
  // First the lock: counts that are read behind it are no less than those of the last reset.
  const std::lock_guard lock(counted_mutex_);
  command_counts counted = counted_of(number);
  if (const auto before = counted_before_.find(number); before != counted_before_.end()) {
    counted -= before->second;
  }
  return counted;
}

void server::reset_statistics() {
  reset_figures(*this);
  const std::lock_guard lock(counted_mutex_);
  counted_before_.clear();
  for (std::size_t i = 0; i < table_.callables().size(); ++i) {
    const command_counts counted = counted_of(i);
    if (counted.is_any()) counted_before_.emplace(i, counted);
  }
}

/// Measures how much of COLD is in DRAM, for --maxmemory. It reads a byte for each page, and is
/// called so seldom that it takes at most a hundredth of a processor.
void server::look_at_cold() {
  const std::uint64_t began = os::monotonic_ns();
  if (began < look_at_cold_ns_) return;
  const heap::usage cold = heap::usage_of(heap::kind::cold);
  cold_resident_.store_relaxed(cold.resident_bytes);
  store::note_cold(cold);
  const std::uint64_t ended = os::monotonic_ns();
  look_at_cold_ns_ = ended + 99 * (ended - began);
}

server::dram server::dram_now() const {
  dram now{};
  const bool is_managed = db_.index().is_managed();
  if (is_managed) {
    const auto extents_of = [](heap::kind where) {
      return heap::usage_of(where, heap::residency::left_out).extent_bytes;
    };
    now.data = extents_of(heap::kind::newborn) + extents_of(heap::kind::hot) +
               (heap::cold_is_direct() ? 0 : cold_resident_.load_relaxed());
    // The pages around them are the allocator's.
    now.nodes = heap::usage_of(heap::kind::node, heap::residency::left_out).bytes;
  }
  now.clients = clients_bytes();
  now.allocator = heap::allocator_overhead_bytes();
  const std::uint64_t all =
      is_managed ? heap::dram_set().all_bytes : os::read_resident_set().all_bytes;
  const std::uint64_t others = now.nodes + now.clients + now.allocator;
  // Not all of an extent need have been touched.
  now.data = std::min(now.data, all - std::min(all, others));
  now.rest = all - std::min(all, others + now.data);
  return now;
}

void server::upkeep() noexcept {
  const std::uint64_t cpu_began = os::thread_cpu_ns(), began = os::monotonic_ns();
  try {
    bool is_behind = false;
    for (;;) {
      const auto swept = db_.sweep_expired(store::now_ms(), kSweepSliceNs, &sweep_clock);
      if (swept.removed * kWorthwhile <= swept.looked_at) break;
      is_behind = os::thread_cpu_ns() - cpu_began >= kSweepCpuNs;
      if (is_behind || os::monotonic_ns() - began >= kSweepWallNs) break;
    }
    db_.set_writers_sweep(is_behind);
    if (db_.index().is_managed()) look_at_cold();
    // For the peak, and since writers count less than what the allocators take for small keys.
    db_.memory().sample();
    follow_clients_limit();
    hold_clients_to_limit();
    const std::int64_t now = store::now_ms();
    for (gathered_report* each : reports()) say(each->due(now));
  } catch (const std::exception&) {
    // Memory was short, as for a copy of a key: the next call tries again.
  }
  look_at_last_second();
  // Threads free what they have retired by the hundred; a few large values must not wait for that.
  if (sync::retired_blocks() > 0) sync::reclaim_ready(kReclaimedAtOnceUs);
}

void server::note_wrong_password(const client& client) {
  statistics.add("wrong_passwords");
  say(wrong_passwords_.note(client.address, store::now_ms()));
}

void server::note_query_limit(const client& client) {
  statistics.add("query_limit_disconnections");
  say(query_limit_.note(client.address, store::now_ms()));
}

void server::note_output_limit(const client& client) {
  statistics.add("output_limit_disconnections");
  say(output_limit_.note(client.address, store::now_ms()));
}

void server::look_at_last_second() noexcept {
  const std::int64_t now = os::monotonic_ms();
  if (now - second_since_ms_ < 1000) return;
  count_rate(now - second_since_ms_);
  count_reply_times();
  second_since_ms_ = now;
}

void server::count_rate(std::int64_t elapsed_ms) noexcept {
  const std::uint64_t commands = statistics.sum("commands");
  const auto elapsed = static_cast<std::uint64_t>(elapsed_ms);
  if (second_since_ms_ != 0 && commands >= rate_commands_)  // not after CONFIG RESETSTAT
    rate_.store_relaxed((commands - rate_commands_) * 1000 / elapsed);
  rate_commands_ = commands;
}

reply_counts server::all_reply_times() const noexcept {
  reply_counts all;
  for (const auto& loop : loops_) all.merge(loop->times().read());
  return all;
}

void server::count_reply_times() noexcept {
  const reply_counts now = all_reply_times();
  reply_counts last_second = now;
  last_second.subtract(replies_before_);
  replies_before_ = now;
  for (std::size_t i = 0; i < kReplyShares.size(); ++i) {
    reply_times_us_[i].store_relaxed(quantile_us(last_second, kReplyShares[i]));
  }
}

}  // namespace isotherm::server
