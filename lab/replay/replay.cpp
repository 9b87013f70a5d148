#include "lab/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lab/bench/in_process.hpp"
#include "lab/bench/watched_server.hpp"
#include "lab/replay/driver.hpp"
#include "lab/replay/index_store.hpp"
#include "lab/replay/redis_store.hpp"

namespace isotherm::replay {
namespace {

/// The replay as a plan of `bench ycsb`, by which windows are kept and reported: as many records as
/// keys, of the mean size.
lab::bench_plan plan_of(const replay_options& asked, const survey& seen) {
  lab::bench_plan plan{.asked = asked.bench, .load = {}, .format = {}};
  auto& collector = plan.asked.collector;
  collector.manage = asked.bench.manage == "on" ? collector::mode::on : collector::mode::track;
  const std::uint64_t keys = std::max<std::uint64_t>(seen.keys(), 1);
  plan.load.keys = plan.asked.keys = keys;
  plan.load.threads = asked.bench.threads;
  plan.load.workload.shares = {};
  plan.format.key_size = seen.key_bytes / keys;
  plan.format.value_size = seen.value_bytes / keys;
  return plan;
}

base::result<void> check_order(const replay_options& asked, const survey& seen,
                               const store& target) {
  const auto seeks = seen.by_kind[static_cast<std::size_t>(traces::operation::seek)];
  if (seeks == 0 || target.can_seek()) return {};
  return std::unexpected(base::error{fmt::format(
      "{} has {} seeks, which need an ordered index in process (--index art, without --connect)",
      asked.trace, seeks)});
}

/// Fills the store, with a line of progress; returns the seconds that it took.
base::result<double> fill_with_progress(store& target, report& made) {
  if (made.asked.no_fill) return 0.0;
  lab::progress_line line;
  double seconds = 0;
  const std::uint64_t all = made.seen.keys_read_first();
  const auto filled = fill(target, made.asked, made.seen, [&](const workload::progress& now) {
    seconds = now.seconds;
    if (line.is_shown()) {
      line.show(fmt::format("fill {:.1f} s  {} of {} keys", now.seconds, now.operations, all));
    }
    return true;
  });
  if (!filled) return std::unexpected(filled.error());
  made.filled = *filled;
  return seconds;
}

double left_of(const survey& seen, const workload::progress& now) noexcept {
  if (now.operations == 0) return 1e9;
  return now.seconds * static_cast<double>(seen.requests - now.operations) /
         static_cast<double>(now.operations);
}

/// The driver as a function of a watcher alone; what else it finds goes to `made`.
lab::drive_function driver_of(store& target, report& made, lab::window_recorder& windows) {
  return [&](const workload::watcher& watch) -> base::result<workload::outcome> {
    auto done = run(target, made.asked, made.seen, windows.counts(), windows.used(), watch);
    if (!done) return std::unexpected(std::move(done).error());
    made.expired = done->expired;
    return std::move(done->driven);
  };
}

base::result<void> replay_local(report& made) {
  const lab::bench_plan& plan = made.plan;
  const bool managed = plan.asked.manage != "off";
  if (managed) {
    if (auto heaps = lab::configure_heaps(plan.asked); !heaps) return heaps;
  }
  const auto index = index::make_lasting(
      plan.asked.index, managed ? index::management::on : index::management::off, plan.asked.keys);
  if (!index) return std::unexpected(index.error());
  const auto target = over_index(**index);
  if (auto fits = check_order(made.asked, made.seen, *target); !fits) return fits;
  const auto seconds = fill_with_progress(*target, made);
  if (!seconds) return std::unexpected(seconds.error());
  lab::window_recorder windows(plan);
  const auto drive = driver_of(*target, made, windows);
  const auto left = [&](const workload::progress& now) { return left_of(made.seen, now); };
  const auto utilization = [&] {
    return lab::utilization_by_walk(**index, [&](std::string_view key, std::string_view) {
      const auto number = made.seen.numbers.find(hash_of(key));
      return number && windows.used().is_current(*number);
    });
  };
  auto driven = managed ? lab::drive_managed(drive, plan, windows)
                        : lab::drive_unmanaged(drive, left, utilization, plan, windows);
  if (!driven) return std::unexpected(driven.error());
  made.found = {.driven = std::move(*driven),
                .windows = windows.take(),
                .index = std::string((*index)->name()),
                .manage = plan.asked.manage,
                .load_seconds = *seconds};
  return {};
}

base::result<void> replay_remote(report& made) {
  const auto where = tool::address::parse(made.plan.asked.connect);
  if (!where) return std::unexpected(where.error());
  if (where->speaks == tool::address::protocol::memcached) {
    return std::unexpected(base::error{"bench trace speaks the Redis protocol only"});
  }
  auto server = lab::watched_server::connect(*where);
  if (!server) return std::unexpected(server.error());
  const auto target = over_redis(*where);
  if (auto fits = check_order(made.asked, made.seen, *target); !fits) return fits;
  made.found = {.driven = {}, .windows = {}, .index = "redis", .manage = "off"};
  if (server->is_ours()) {
    auto stats = server->stats();
    if (!stats) return std::unexpected(stats.error());
    made.found.index = (*stats)["index"];
    made.found.manage = (*stats)["manage"];
  }
  const auto seconds = fill_with_progress(*target, made);
  if (!seconds) return std::unexpected(seconds.error());
  made.found.load_seconds = *seconds;
  lab::window_recorder windows(made.plan);
  const auto left = [&](const workload::progress& now) { return left_of(made.seen, now); };
  auto driven =
      lab::drive_watched(*server, driver_of(*target, made, windows), left, made.plan, windows);
  if (!driven) return std::unexpected(driven.error());
  made.found.driven = std::move(*driven);
  made.found.windows = windows.take();
  return {};
}

}  // namespace

base::result<report> replay(const replay_options& asked) {
  auto seen = look_through(asked);
  if (!seen) return std::unexpected(std::move(seen).error());
  report made{.asked = asked, .seen = std::move(*seen), .plan = {}, .found = {}};
  made.plan = plan_of(asked, made.seen);
  auto done = asked.bench.connect.empty() ? replay_local(made) : replay_remote(made);
  if (!done) return std::unexpected(std::move(done).error());
  return made;
}

}  // namespace isotherm::replay
