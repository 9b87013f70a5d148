#include "lab/bench/windows.hpp"

#include <fmt/format.h>

#include <utility>

namespace isotherm::lab {
namespace {

/// Keys to follow: the loaded ones, and room for as many again where the workload inserts.
std::uint64_t followed_keys(const bench_plan& plan) {
  return plan.load.keys * (plan.load.workload.shares.insert > 0 ? 2 : 1);
}

}  // namespace

window_recorder::window_recorder(const bench_plan& plan)
    : plan_(plan), used_(followed_keys(plan)), counts_(plan.load.threads) {}

void window_recorder::watch(const workload::progress& now) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    is_warmup_ = now.is_warmup;
    if (!line_.is_shown()) return;
    text = fmt::format("{} {:.1f} s  {:.0f} ops/s", now.is_warmup ? "warm-up" : "run", now.seconds,
                       now.seconds > 0 ? static_cast<double>(now.operations) / now.seconds : 0.0);
    if (!samples_.empty()) {
      const window_sample& last = samples_.back();
      text += fmt::format("  RSS {} MiB  DRAM {} MiB  window {}", last.rss_bytes >> 20,
                          last.dram_bytes >> 20, samples_.size());
      if (last.page_utilization) {
        text += fmt::format("  utilization {:.1f}%", *last.page_utilization * 100);
      }
    }
  }
  line_.show(text);
}

void window_recorder::end_window(window_sample sample) {
  const auto ages = used_.advance();
  sample.cold_threshold = plan_.asked.collector.cold_threshold;
  if (sample.seen) {
    sample.cold_threshold = sample.seen->cold_threshold;
    sample.page_utilization = sample.seen->page_utilization;
  }
  sample.used_bytes = plan_.format.object_bytes() * ages[0];
  const std::lock_guard lock(mutex_);
  const auto now = clock::now();
  sample.at_seconds = seconds(now - began_);
  sample.seconds = seconds(now - last_end_);
  sample.is_warmup = is_warmup_;
  last_end_ = now;
  sample.done = counts_.done();
  workload::tally sums = counts_.read();
  workload::tally since = sums;
  since.subtract(std::exchange(at_last_end_, std::move(sums)));
  sample.driven = summary_of(since);
  samples_.push_back(std::move(sample));
}

double window_recorder::window_age() const {
  const std::lock_guard lock(mutex_);
  return seconds(clock::now() - last_end_);
}

bool window_recorder::is_empty() const {
  const std::lock_guard lock(mutex_);
  return samples_.empty();
}

base::result<double> load_with_progress(workload::target& store, const bench_plan& plan) {
  progress_line line;
  const auto began = std::chrono::steady_clock::now();
  const auto how = workload::load(store, plan.load, [&](const workload::progress& now) {
    if (line.is_shown()) {
      line.show(fmt::format("load {:.1f} s  {} of {} records", now.seconds, now.operations,
                            plan.load.keys));
    }
    return true;
  });
  if (!how) return std::unexpected(how.error());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace isotherm::lab
