#include "lab/backends/run.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "lab/backends/store.hpp"
#include "lab/backends/system/memory_nodes.hpp"
#include "lab/backends/system/swap_area.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

using clock = std::chrono::steady_clock;

constexpr int kStepMilliseconds = 100;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

std::uint64_t resident_bytes(pid_t process) {
  const std::string text = read_text(fmt::format("/proc/{}/status", process));
  return os::number_after(text, "VmRSS:").value_or(0) * 1024;
}

/// The rows of /proc/vmstat that a backend is interested in.
class system_counters {
 public:
  explicit system_counters(std::span<const std::string_view> names)
      : names_(names), first_(read()) {}

  nlohmann::json since() const {
    auto found = nlohmann::json::object();
    const auto last = read();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      found[std::string(names_[i])] = last[i] - first_[i];
    }
    return found;
  }

 private:
  std::vector<std::uint64_t> read() const {
    const std::string text = '\n' + read_text("/proc/vmstat");
    std::vector<std::uint64_t> found;
    for (const std::string_view name : names_) {
      found.push_back(os::number_after(text, fmt::format("\n{} ", name)).value_or(0));
    }
    return found;
  }

  std::span<const std::string_view> names_;
  std::vector<std::uint64_t> first_;
};

/// One run, from its swap space to its result.
class backed {
 public:
  backed(const backends_options& asked, const backends_run& run, system_changes& changes,
         const std::stop_token& stop)
      : asked_(asked), run_(run), changes_(changes), stop_(stop) {}

  base::result<backends_result> run() {
    if (auto prepared = prepare(); !prepared) return std::unexpected(prepared.error());
    if (auto started = start_stores(); !started) return std::unexpected(started.error());
    if (auto loaded = wait_for(stage::loaded); !loaded) return std::unexpected(loaded.error());
    for (store_process& store : stores_) store.proceed();
    if (auto settled = wait_for(stage::adapting); !settled) {
      return std::unexpected(settled.error());
    }
    system_counters counters(run_.kind->counters);
    const auto began = clock::now();
    backend_ = run_.kind->make();
    backed_run context_now = context();
    if (auto started = backend_->start(context_now); !started) {
      return std::unexpected(started.error());
    }
    if (auto adapted = wait_for(stage::measuring); !adapted) {
      return std::unexpected(adapted.error());
    }
    const auto measured_from = clock::now();
    const group_memory before = group_ ? group_->memory() : group_memory{};
    const auto stalled = stalled_us();
    if (auto ended = wait_for(stage::ended); !ended) return std::unexpected(ended.error());
    backends_result found = state();
    found.counters = counters.since();
    found.seconds = seconds_since(began);
    if (found.group) {
      found.group->major_faults -= before.major_faults;
      found.group->refaults -= before.refaults;
    }
    if (const auto now = stalled_us(); now && stalled) {
      found.stalled_percent =
          static_cast<double>(*now - *stalled) / 1e4 / seconds_since(measured_from);
    }
    return add_reports(std::move(found));
  }

 private:
  base::result<void> prepare() {
    if (run_.kind->needs_swap) {
      auto made = swap_area::make(changes_, run_.kind->swap.value_or(asked_.swap), asked_.folder,
                                  2 * run_.record_bytes / kPage * kPage);
      if (!made) return std::unexpected(made.error());
      swap_.emplace(std::move(*made));
    }
    auto group = control_group::make(changes_);
    if (group) {
      group_.emplace(std::move(*group));
    } else if (run_.kind->needs_group) {
      return std::unexpected(group.error());
    }
    if (run_.kind->has_tiers) return group_->allow_nodes(changes_, find_memory_nodes().slow);
    return {};
  }

  base::result<void> start_stores() {
    for (const bench_plan& plan : run_.plans) {
      auto started =
          store_process::start({.bench = plan,
                                .managed = run_.kind->managed,
                                .has_tiers = run_.kind->has_tiers,
                                .settle_seconds = asked_.settle,
                                .target_bytes = run_.chosen.budget_bytes / run_.plans.size()},
                               group_ ? &*group_ : nullptr);
      if (!started) return std::unexpected(started.error());
      stores_.push_back(std::move(*started));
      pids_.push_back(stores_.back().pid());
    }
    return {};
  }

  backed_run context() const {
    return {.chosen = run_.chosen,
            .changes = changes_,
            .group = group_ ? &*group_ : nullptr,
            .stores = pids_};
  }

  /// Waits until all stores are as far, and lets the backend work meanwhile.
  base::result<void> wait_for(stage wanted) {
    auto due = clock::now();
    for (;;) {
      bool all = true;
      for (store_process& store : stores_) {
        const stage reached = store.update();
        if (reached == stage::ended && !store.report()) return std::unexpected(end_of(store));
        all &= reached >= wanted;
      }
      if (all) return {};
      if (stop_.stop_requested()) return std::unexpected(base::error{"interrupted", ECANCELED});
      if (clock::now() >= due) {
        step();
        due = std::max(due + std::chrono::milliseconds(kStepMilliseconds), clock::now());
      }
      wait_until(due);
    }
  }

  void step() {
    if (!backend_) return;
    backed_run now = context();
    backend_->step(now);
    most_ = stores_.front().last_stage() == stage::measuring ? std::max(most_, dram_bytes()) : 0;
  }

  /// Waits until then, or until a store says something.
  void wait_until(clock::time_point due) {
    std::vector<pollfd> ready;
    ready.reserve(stores_.size());
    for (store_process& store : stores_) ready.push_back({store.descriptor(), POLLIN, 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - clock::now());
    ::poll(ready.data(), ready.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 1)));
  }

  base::error end_of(const store_process& store) const {
    const auto report = store.report();
    const std::string when = fmt::format("while it was {}", name(store.last_stage()));
    if (group_ && group_->memory().kills > 0) {
      return {fmt::format("a store was killed for want of memory {}", when)};
    }
    return {fmt::format("a store {} {}", report.error().message, when)};
  }

  std::optional<std::uint64_t> stalled_us() const {
    return group_ ? group_->stalled_us() : std::nullopt;
  }

  std::uint64_t dram_bytes() const {
    if (const auto fast = backend_->fast_bytes(context())) return *fast;
    if (group_) {
      const std::uint64_t charged = group_->memory().charged;
      return charged - std::min(charged, backend_->foreign_bytes()) + zram_bytes();
    }
    std::uint64_t bytes = zram_bytes();
    for (const pid_t process : pids_) bytes += resident_bytes(process);
    return bytes;
  }
  std::uint64_t zram_bytes() const { return swap_ ? swap_->memory_bytes() : 0; }

  backends_result state() {
    const std::uint64_t now = dram_bytes();
    return {.stores = {},
            .dram_bytes = now,
            .most_dram_bytes = std::max(most_, now),
            .zram_bytes = zram_bytes(),
            .foreign_bytes = backend_->foreign_bytes(),
            .group = group_ ? std::optional(group_->memory()) : std::nullopt,
            .stalled_percent = std::nullopt,
            .counters = {},
            .details = backend_->details(context())};
  }

  base::result<backends_result> add_reports(backends_result found) const {
    for (const store_process& store : stores_) {
      auto report = store.report();
      if (!report) return std::unexpected(end_of(store));
      found.stores.push_back(std::move(*report));
    }
    return found;
  }

  static constexpr std::uint64_t kPage = 4096;

  const backends_options& asked_;
  const backends_run& run_;
  system_changes& changes_;
  const std::stop_token& stop_;
  std::optional<swap_area> swap_;
  std::optional<control_group> group_;
  std::vector<store_process> stores_;
  std::vector<pid_t> pids_;
  std::unique_ptr<backend> backend_;  // goes before the stores, whose group it may use
  std::uint64_t most_ = 0;
};

}  // namespace

std::string why_not(const backends_run& run) {
  const backend_kind& kind = *run.kind;
  if ((kind.needs_group || kind.needs_swap) && ::geteuid() != 0) {
    return "it makes swap space and a control group, which needs root: sudo";
  }
  return kind.why_not != nullptr ? kind.why_not(run.chosen) : std::string();
}

base::result<backends_result> run_backed(const backends_options& asked, const backends_run& run,
                                         system_changes& changes, const std::stop_token& stop) {
  const std::size_t before = changes.count();
  auto found = backed(asked, run, changes, stop).run();
  const auto undone = changes.undo_to(before);
  if (found && !undone) return std::unexpected(undone.error());
  return found;
}

}  // namespace isotherm::lab
