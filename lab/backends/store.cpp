#include "lab/backends/store.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

#include "collector/collector.hpp"
#include "heap/usage.hpp"
#include "index/index.hpp"
#include "lab/backends/read_nodes.hpp"
#include "lab/backends/system/memory_nodes.hpp"
#include "lab/bench/in_process.hpp"
#include "lab/bench/index_target.hpp"
#include "lab/bench/window_sample.hpp"
#include "lab/workload/driver.hpp"
#include "os/memory/process_memory.hpp"
#include "tool/origin.hpp"

namespace isotherm::lab {
namespace {

constexpr std::array<const char*, 6> kStages{"loading",  "loaded",    "settling",
                                             "adapting", "measuring", "ended"};
constexpr std::string_view kReport = "report ";
constexpr std::string_view kProblem = "problem ";

/// The store's side of the conversation.
class serving {
 public:
  serving(const store_plan& plan, line_channel& parent) : plan_(plan), parent_(parent) {}

  base::result<nlohmann::json> run() {
    const bool managed = plan_.bench.asked.manage != "off";
    if (managed) {
      if (auto heaps = configure_heaps(plan_.bench.asked); !heaps) {
        return std::unexpected(heaps.error());
      }
    }
    const auto index = index::make_lasting(plan_.bench.asked.index,
                                           managed ? index::management::on : index::management::off,
                                           plan_.bench.asked.keys);
    if (!index) return std::unexpected(index.error());
    index_target store(**index, plan_.bench.format, plan_.bench.load.seed,
                       plan_.has_tiers ? &nodes_ : nullptr);
    const auto loaded = workload::load(store, plan_.bench.load, [](const auto&) { return true; });
    if (!loaded) return std::unexpected(loaded.error());
    reach(stage::loaded);
    parent_.next();
    if (managed) {
      collector_.emplace(plan_.bench.asked.collector);
      if (auto started = collector_->start(); !started) return std::unexpected(started.error());
    }
    return serve(store);
  }

 private:
  base::result<nlohmann::json> serve(index_target& store) {
    reach(stage::settling);
    workload::meters counts(plan_.bench.load.threads);
    workload::touched_keys unused(0);
    base::result<void> started;
    const auto driven =
        workload::run(store, plan_.bench.load, counts, unused, [&](const auto& now) {
          if (stage_ == stage::settling &&
              (!now.is_warmup || now.seconds >= plan_.settle_seconds)) {
            started = begin_to_leave();
            reach(stage::adapting);
          }
          if (stage_ == stage::adapting && !now.is_warmup) {
            before_ = nodes_.counts();
            reach(stage::measuring);
          }
          return started.has_value();
        });
    if (!driven) return std::unexpected(driven.error());
    if (!started) return std::unexpected(started.error());
    return report_of(*driven);
  }

  /// Under a backend that the store itself is, its collector begins to page COLD out.
  base::result<void> begin_to_leave() {
    if (!collector_ || plan_.managed == frontend::orders) return {};
    collector::options now = collector_->configuration();
    now.hint = heap::hint::pageout;
    if (plan_.managed == frontend::logs) {
      now.policy = collector::policy_name::budget;
      now.memory_target_bytes = plan_.target_bytes;
    }
    return collector_->reconfigure(now);
  }

  nlohmann::json report_of(const workload::outcome& driven) {
    if (collector_) collector_->stop();
    const driven_summary sums = summary_of(driven.sums);
    const auto& latency = sums.latency_us;
    nlohmann::json heaps = nlohmann::json::object();
    for (const heap::kind where :
         collector_ ? std::span<const heap::kind>(heap::kKinds) : std::span<const heap::kind>()) {
      const heap::usage usage = heap::usage_of(where);
      heaps[std::string(heap::name_of(where))] = {{"bytes", usage.bytes},
                                                  {"resident_bytes", usage.resident_bytes}};
    }
    return {{"index", plan_.bench.asked.index},
            {"workload", std::string(1, plan_.bench.load.workload.letter)},
            {"seconds", driven.seconds},
            {"operations", sums.operations},
            {"throughput_ops_s", driven.throughput()},
            {"waited", sums.waited},
            {"hit_ratio", 1 - miss_ratio_of(sums)},
            {"misses", sums.misses},
            {"reads_by_node", plan_.has_tiers ? to_json(nodes_.counts() - before_) : nullptr},
            {"missing", driven.sums.missing},
            {"corrupt", driven.sums.corrupt},
            {"latency_us",
             {{"p50", latency.p50},
              {"p90", latency.p90},
              {"p99", latency.p99},
              {"p999", latency.p999}}},
            {"rss_bytes", os::read_process_memory().rss_bytes},
            {"heaps", heaps}};
  }

  static nlohmann::json to_json(const read_nodes::sums& reads) {
    return {{"seen", reads.seen}, {"fast", reads.fast}};
  }

  void reach(stage next) {
    stage_ = next;
    parent_.send(name(next));
  }

  const store_plan& plan_;
  line_channel& parent_;
  read_nodes nodes_{find_memory_nodes().fast};
  read_nodes::sums before_;  // the measured time
  stage stage_ = stage::loading;
  std::optional<collector::object_collector> collector_;
};

void be_store(const store_plan& plan, const control_group* group, line_channel& parent) {
  if (group != nullptr) {
    if (auto added = group->add(0); !added) {
      return parent.send(std::string(kProblem) + added.error().message);
    }
  }
  const auto found = serving(plan, parent).run();
  if (!found) return parent.send(std::string(kProblem) + found.error().message);
  parent.send(std::string(kReport) + tool::text_of(*found));
  parent.next();  // its memory stays until the parent has counted it
}

}  // namespace

const char* name(stage reached) noexcept { return kStages[static_cast<std::size_t>(reached)]; }

base::result<store_process> store_process::start(const store_plan& plan,
                                                 const control_group* group) {
  auto process = child_process::start([&](line_channel& parent) { be_store(plan, group, parent); });
  if (!process) return std::unexpected(process.error());
  return store_process(std::move(*process));
}

void store_process::proceed() { process_.channel().send("go"); }

stage store_process::update() {
  for (const std::string& line : process_.channel().received()) {
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      if (line == kStages[i]) stage_ = last_ = static_cast<stage>(i);
    }
    if (line.starts_with(kReport)) {
      report_ = nlohmann::json::parse(line.substr(kReport.size()), nullptr, false);
      stage_ = stage::ended;
    }
    if (line.starts_with(kProblem)) {
      report_ = std::unexpected(base::error{line.substr(kProblem.size())});
      stage_ = stage::ended;
    }
  }
  if (!process_.channel().is_open()) stage_ = stage::ended;
  return stage_;
}

base::result<nlohmann::json> store_process::report() const { return report_; }

}  // namespace isotherm::lab
