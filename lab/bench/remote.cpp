// Over a socket. The windows of the samples are the driver's own.
#include <memory>

#include "lab/bench/run.hpp"
#include "lab/bench/watched_server.hpp"
#include "lab/bench/windows.hpp"
#include "lab/workload/servers/memcached_target.hpp"
#include "lab/workload/servers/redis_target.hpp"

namespace isotherm::lab {
namespace {

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
    auto stats = server->stats();
    if (!stats) return std::unexpected(stats.error());
    found.index = (*stats)["index"];
    found.manage = (*stats)["manage"];
  }
  announce(plan);
  if (!plan.asked.no_load) {
    const auto seconds = load_with_progress(*store, plan);
    if (!seconds) return std::unexpected(seconds.error());
    found.load_seconds = *seconds;
  }
  window_recorder windows(plan);
  const drive_function run = [&](const workload::watcher& watch) {
    return workload::run(*store, plan.load, windows.counts(), windows.used(), watch);
  };
  const auto left = [&](const workload::progress& now) { return seconds_left(plan, now); };
  auto driven = drive_watched(*server, run, left, plan, windows);
  if (!driven) return std::unexpected(driven.error());
  found.driven = std::move(*driven);
  found.windows = windows.take();
  found.bounds = find_bounds(plan, found.driven, found.windows);
  found.point = point_of(plan, found.windows.back());
  if (!plan.asked.used.empty()) found.used_keys = windows.used().last_uses();
  return found;
}

}  // namespace isotherm::lab
