// Over a socket: isotherm serve tells of its heaps and windows by ISOTHERM STATS; a Redis tells its
// resident set by INFO. The windows of the samples are the driver's own.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/bench_run.hpp"
#include "cli/bench_windows.hpp"
#include "workload/redis_target.hpp"

namespace isotherm::cli {
namespace {

using nlohmann::json;

/// Number after "`field`:" in an INFO text; 0 when there is none.
std::uint64_t info_number(const std::string& info, const std::string& field) {
  const std::size_t at = info.find("\n" + field + ":");
  if (at == std::string::npos) return 0;
  std::uint64_t value = 0;
  const char* digits = info.data() + at + field.size() + 2;
  std::from_chars(digits, info.data() + info.size(), value);
  return value;
}

heap::usage usage_of(const json& object) {
  return {.objects = object.value("objects", std::uint64_t{0}),
          .bytes = object.value("bytes", std::uint64_t{0}),
          .extent_bytes = object.value("extent_bytes", std::uint64_t{0}),
          .resident_bytes = object.value("resident_bytes", std::uint64_t{0})};
}

/// A server that is asked for its memory now and then.
class watched_server {
 public:
  static base::result<watched_server> connect(const workload::address& where) {
    auto connection = workload::redis_connection::open(where);
    if (!connection) return std::unexpected(connection.error());
    watched_server made(std::move(*connection));
    // A Redis answers with an error: it has no such command.
    made.is_ours_ = made.stats().has_value();
    return made;
  }

  bool is_ours() const noexcept { return is_ours_; }

  base::result<json> stats() {
    auto text = connection_.ask("ISOTHERM STATS");
    if (!text) return std::unexpected(text.error());
    auto parsed = json::parse(*text, nullptr, false);
    if (parsed.is_object()) return parsed;
    return std::unexpected(base::error{"ISOTHERM STATS did not answer with a JSON object"});
  }

  base::result<window_sample> sample() {
    if (!is_ours_) return redis_sample();
    auto found = stats();
    if (!found) return std::unexpected(found.error());
    return isotherm_sample(*found);
  }

 private:
  explicit watched_server(workload::redis_connection connection)
      : connection_(std::move(connection)) {}

  base::result<window_sample> redis_sample() {
    const auto info = connection_.ask("INFO memory");
    if (!info) return std::unexpected(info.error());
    window_sample sample;
    sample.rss_bytes = sample.dram_bytes = info_number(*info, "used_memory_rss");
    return sample;
  }

  /// Collector's processor time is a total; a window has what was added.
  window_sample isotherm_sample(const json& found) {
    window_sample sample;
    sample.rss_bytes = found.value("rss_bytes", std::uint64_t{0});
    sample.rss_peak_bytes = found.value("rss_peak_bytes", std::uint64_t{0});
    sample.dram_bytes = found.value("dram_bytes", sample.rss_bytes);
    const json window = found.value("window", json::object());
    if (!window.is_object() || window.value("window", 0) == 0) return sample;
    sample.page_utilization = window.value("page_utilization", 0.0);
    sample.promotion_rate = window.value("promotion_rate", 0.0);
    sample.cold_threshold = window.value("cold_threshold", 0u);
    sample.collector_cpu_seconds = window.value("collector_cpu_seconds", 0.0);
    sample.vetoed = window.value("vetoed", std::uint64_t{0});
    sample.failed = window.value("failed", std::uint64_t{0});
    sample.hinted_bytes = window.value("hinted_bytes", std::uint64_t{0});
    sample.promoted = usage_of(window.value("promoted", json::object())).objects;
    sample.demoted = usage_of(window.value("demoted", json::object())).objects;
    const json heaps = found.value("heaps", json::object());
    sample.heaps.emplace();
    constexpr std::array kNames{"new", "hot", "cold"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      (*sample.heaps)[i] = usage_of(heaps.value(kNames[i], json::object()));
    }
    sample.node_bytes = usage_of(heaps.value("node", json::object())).resident_bytes;
    return sample;
  }

  workload::redis_connection connection_;
  bool is_ours_ = false;
};

base::result<workload::outcome> drive(workload::target& store, const bench_plan& plan,
                                      watched_server& server, window_recorder& windows) {
  base::result<window_sample> last = window_sample{};
  const double total = plan.asked.warmup + plan.asked.seconds;
  auto driven = workload::run(store, plan.load, windows.used(), [&](const auto& now) {
    windows.watch(now);
    const double done = now.seconds + (now.is_warmup ? 0 : plan.asked.warmup);
    if (windows.window_age() < plan.asked.window || total - done < plan.asked.window / 2) {
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

}  // namespace

base::result<bench_result> run_remote(const bench_plan& plan) {
  const auto where = workload::address::parse(plan.asked.connect);
  if (!where) return std::unexpected(where.error());
  if (plan.load.workload.shares.scan > 0) {
    return std::unexpected(base::error{
        "workload e scans, which the Redis protocol cannot: leave --connect out (--index art)"});
  }
  auto server = watched_server::connect(*where);
  if (!server) return std::unexpected(server.error());
  workload::redis_target store(*where, plan.format, plan.asked.seed);
  bench_result found{.driven = {}, .windows = {}, .index = "redis", .manage = "off"};
  if (server->is_ours()) {
    const auto stats = server->stats();
    if (!stats) return std::unexpected(stats.error());
    found.index = stats->value("index", "isotherm");
    found.manage = stats->value("manage", "unknown");
  }
  if (!plan.asked.no_load) {
    const auto seconds = load_with_progress(store, plan);
    if (!seconds) return std::unexpected(seconds.error());
    found.load_seconds = *seconds;
  }
  window_recorder windows(plan);
  auto driven = drive(store, plan, *server, windows);
  if (!driven) return std::unexpected(driven.error());
  found.driven = std::move(*driven);
  found.windows = windows.take();
  return found;
}

}  // namespace isotherm::cli
