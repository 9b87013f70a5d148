#include "lab/bench/bounds.hpp"

#include <chrono>
#include <numeric>

#include "lab/workload/popularity.hpp"
#include "lab/workload/replay.hpp"

namespace isotherm::lab {
namespace {

constexpr unsigned kCurvePoints = 20;  ///< 0 and 1 are known

using counts = std::vector<std::uint64_t>;

std::uint64_t sum_of(const counts& each) {
  return std::accumulate(each.begin(), each.end(), std::uint64_t{0});
}

class finder {
 public:
  finder(const bench_plan& plan, const workload::outcome& driven)
      : plan_(plan),
        driven_(driven),
        popular_(plan.load.keys_by, plan.load.keys),
        replay_(plan.load, driven.done),
        measured_(replay_.one_in()) {}

  bounds_report find(std::vector<window_sample>& windows) {
    for (window_sample& sample : windows) {
      const workload::miss_curve seen = advance(sample.done);
      const auto held = held_bytes(sample);
      if (held && seen.requests() > 0) sample.bounds = at(seen, *held / record_bytes());
    }
    advance(driven_.done);
    bounds_report found;
    found.record_dram_bytes = mean_held(windows);
    if (found.record_dram_bytes) {
      found.misses = at(measured_, *found.record_dram_bytes / record_bytes());
    }
    for (unsigned i = 1; i < kCurvePoints; ++i) {
      const double share = static_cast<double>(i) / kCurvePoints;
      const auto room = static_cast<std::uint64_t>(share * static_cast<double>(plan_.load.keys));
      found.curve.push_back({share, at(measured_, room)});
    }
    found.requests = measured_.requests();
    found.one_in = replay_.one_in();
    return found;
  }

 private:
  std::uint64_t record_bytes() const { return plan_.format.object_bytes(); }

  /// Goes on to `done`; what lies behind the warm-up counts as measured.
  workload::miss_curve advance(const counts& done) {
    workload::miss_curve seen(replay_.one_in());
    if (!is_measuring_ && sum_of(done) > sum_of(driven_.done_before)) {
      seen = replay_.advance(driven_.done_before);
      is_measuring_ = true;
    }
    const workload::miss_curve rest = replay_.advance(done);
    if (is_measuring_) measured_.add(rest);
    seen.add(rest);
    return seen;
  }

  miss_bounds at(const workload::miss_curve& seen, std::uint64_t room) const {
    const double uses = 1 - plan_.load.workload.shares.insert / 100.0;
    return {.object_lru = seen.misses(room),
            .best_static = uses * (1 - popular_.share_of_top(room))};
  }

  static std::optional<std::uint64_t> mean_held(const std::vector<window_sample>& windows) {
    std::uint64_t sum = 0, count = 0;
    for (const window_sample& sample : windows) {
      // The last one stands for a measured time that is shorter than a window.
      if (sample.is_warmup && &sample != &windows.back()) continue;
      const auto held = held_bytes(sample);
      if (!held) return std::nullopt;
      sum += *held;
      ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }

  const bench_plan& plan_;
  const workload::outcome& driven_;
  workload::popularity popular_;
  workload::replay replay_;
  workload::miss_curve measured_;
  bool is_measuring_ = false;
};

}  // namespace

std::optional<bounds_report> find_bounds(const bench_plan& plan, const workload::outcome& driven,
                                         std::vector<window_sample>& windows) {
  const workload::mix& shares = plan.load.workload.shares;
  if (shares.scan + shares.remove + shares.multiget + shares.incr > 0) return std::nullopt;
  if (plan.format.ttl_ms > 0) return std::nullopt;
  const auto began = std::chrono::steady_clock::now();
  bounds_report found = finder(plan, driven).find(windows);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return found;
}

}  // namespace isotherm::lab
