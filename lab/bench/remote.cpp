// Over a socket: isotherm serve tells of its heaps and windows by ISOTHERM STATS; a Redis tells its
// resident set by INFO; a memcached nothing of its memory. The windows of the samples are the
// driver's own.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/check.hpp"
#include "lab/bench/run.hpp"
#include "lab/bench/windows.hpp"
#include "lab/workload/memcached_target.hpp"
#include "lab/workload/redis_target.hpp"
#include "tool/redis_connection.hpp"

namespace isotherm::lab {
namespace {

/// Number after "`field`:" in an INFO text; 0 when there is none.
std::uint64_t info_number(const std::string& info, const std::string& field) {
  const std::size_t at = info.find("\n" + field + ":");
  if (at == std::string::npos) return 0;
  std::uint64_t value = 0;
  const char* digits = info.data() + at + field.size() + 2;
  std::from_chars(digits, info.data() + info.size(), value);
  return value;
}

using fields = tool::redis_connection::fields;

std::uint64_t whole(const fields& found, const std::string& name) {
  const auto at = found.find(name);
  return at == found.end() ? 0 : std::strtoull(at->second.c_str(), nullptr, 10);
}

std::string text(const fields& found, const std::string& name) {
  const auto at = found.find(name);
  return at == found.end() ? "" : at->second;
}

heap::usage usage_of(const fields& heaps, heap::kind where) {
  const std::string name(name_of(where));
  return {.objects = whole(heaps, name + ".objects"),
          .bytes = whole(heaps, name + ".bytes"),
          .extent_bytes = whole(heaps, name + ".extent_bytes"),
          .resident_bytes = whole(heaps, name + ".resident_bytes")};
}

/// A server that is asked for its memory now and then.
class watched_server {
 public:
  static base::result<watched_server> connect(const workload::address& where) {
    watched_server made;
    if (where.speaks == workload::address::protocol::memcached) return made;
    auto connection = tool::redis_connection::open(where);
    if (!connection) return std::unexpected(connection.error());
    made.connection_ = std::move(*connection);
    // A Redis answers with an error: it has no such command.
    made.is_ours_ = made.stats().has_value();
    return made;
  }

  bool is_ours() const noexcept { return is_ours_; }

  base::result<fields> stats() { return connection().ask_fields("ISOTHERM STATS"); }

  base::result<window_sample> sample() {
    if (!connection_) return window_sample{};
    if (!is_ours_) return redis_sample();
    auto found = stats();
    if (!found) return std::unexpected(found.error());
    window_sample sample = sample_of(*found);
    if (!sample.seen) return sample;
    const auto heaps = connection().ask_fields("ISOTHERM HEAPS");
    if (!heaps) return std::unexpected(heaps.error());
    sample.heaps.emplace();
    for (const heap::kind where : heap::kKinds) (*sample.heaps)[where] = usage_of(*heaps, where);
    return sample;
  }

 private:
  tool::redis_connection& connection() {
    ISO_CHECK(connection_.has_value(), "a server was connected to");
    return *connection_;
  }
  base::result<window_sample> redis_sample() {
    const auto info = connection().ask("INFO memory");
    if (!info) return std::unexpected(info.error());
    window_sample sample;
    sample.rss_bytes = sample.dram_bytes = info_number(*info, "used_memory_rss");
    return sample;
  }

  /// What the server's last window saw. Without management there is none.
  static window_sample sample_of(const fields& found) {
    window_sample sample;
    sample.rss_bytes = whole(found, "rss_bytes");
    sample.rss_peak_bytes = whole(found, "rss_peak_bytes");
    sample.dram_bytes = whole(found, "dram_bytes");
    if (whole(found, "window") == 0) return sample;
    sample.seen.emplace();
    for (const auto& each : collector::statistic_table()) {
      each.set(*sample.seen, text(found, std::string(each.name)));
    }
    return sample;
  }

  std::optional<tool::redis_connection> connection_;  // absent: a memcached
  bool is_ours_ = false;
};

base::result<workload::outcome> drive(workload::target& store, const bench_plan& plan,
                                      watched_server& server, window_recorder& windows) {
  base::result<window_sample> last = window_sample{};
  const double total = plan.asked.warmup + plan.asked.seconds;
  auto driven =
      workload::run(store, plan.load, windows.counts(), windows.used(), [&](const auto& now) {
        windows.watch(now);
        const double done = now.seconds + (now.is_warmup ? 0 : plan.asked.warmup);
        if (windows.window_age() < plan.asked.collector.window_seconds ||
            total - done < plan.asked.collector.window_seconds / 2) {
          return true;
        }
        last = server.sample();
        if (last) windows.end_window(*last);
        return last.has_value();
      });
  if (!driven) return driven;
  if (last) last = server.sample();
  if (!last) return std::unexpected(last.error());
  windows.end_window(*last);
  return driven;
}

std::unique_ptr<workload::target> target_at(const workload::address& where,
                                            const bench_plan& plan) {
  if (where.speaks == workload::address::protocol::memcached) {
    return std::make_unique<workload::memcached_target>(where, plan.format, plan.load.seed);
  }
  return std::make_unique<workload::redis_target>(where, plan.format, plan.load.seed);
}

}  // namespace

base::result<bench_result> run_remote(const bench_plan& plan) {
  const auto where = workload::address::parse(plan.asked.connect);
  if (!where) return std::unexpected(where.error());
  if (plan.load.workload.shares.scan > 0) {
    return std::unexpected(
        base::error{"workload e scans, which no server can: leave --connect out (--index art)"});
  }
  auto server = watched_server::connect(*where);
  if (!server) return std::unexpected(server.error());
  const auto store = target_at(*where, plan);
  const bool is_redis = where->speaks == workload::address::protocol::redis;
  bench_result found{
      .driven = {}, .windows = {}, .index = is_redis ? "redis" : "memcached", .manage = "off"};
  if (server->is_ours()) {
    const auto stats = server->stats();
    if (!stats) return std::unexpected(stats.error());
    found.index = text(*stats, "index");
    found.manage = text(*stats, "manage");
  }
  announce(plan);
  if (!plan.asked.no_load) {
    const auto seconds = load_with_progress(*store, plan);
    if (!seconds) return std::unexpected(seconds.error());
    found.load_seconds = *seconds;
  }
  window_recorder windows(plan);
  auto driven = drive(*store, plan, *server, windows);
  if (!driven) return std::unexpected(driven.error());
  found.driven = std::move(*driven);
  found.windows = windows.take();
  found.bounds = find_bounds(plan, found.driven, found.windows);
  found.point = point_of(plan, found.windows.back());
  if (!plan.asked.used.empty()) found.used_keys = windows.used().last_uses();
  return found;
}

}  // namespace isotherm::lab
