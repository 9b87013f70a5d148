#include "server/management/collector_management.hpp"
#include "server/log.hpp"

#include <fmt/format.h>

#include <cstring>
#include <mutex>

#include "collector/memory/memory_room.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"

namespace isotherm::server {

namespace {

/// Tells an operator what to do when the COLD heap has no room.
std::string explain_full(const heap::backing_description& cold) {
  const int code = heap::cold_refusal_code();
  const std::string why = code == 0 ? "its address range is used up" : std::strerror(code);
  return fmt::format(
      "COLD is full ({}): objects that grow cold stay where they are; make room in {}", why,
      cold.room);
}

/// Tells an operator that COLD cannot be read back from its disk.
std::string explain_unreadable(const heap::backing_description& cold) {
  return fmt::format(
      "COLD cannot be read: commands that need a record of it answer IOERR until the key is "
      "deleted "
      "or overwritten; check the disk of '{}'",
      cold.directory);
}

/// Tells an operator that COLD's disk does not answer.
std::string explain_silent(const heap::backing_description& cold) {
  return fmt::format(
      "COLD's disk does not answer: commands that need a record of it answer IOERR after {:g} s; "
      "check the disk of '{}'",
      std::chrono::duration<double>(heap::read_limits().answers_within).count(), cold.directory);
}

/// Says why writes are refused while nothing else is wrong.
std::string explain_refusals(const collector::object_collector& running) {
  constexpr std::uint64_t kLittle = 8;
  const std::uint64_t target = collector::target_now(running.configuration());
  const heap::usage warm = collector::warm_memory();
  if (warm.extent_bytes > target / kLittle) {
    return fmt::format(
        "DRAM stays above --memory-target ({} bytes): writes are refused until records have left; "
        "raise it, delete keys or slow down",
        target);
  }
  return fmt::format(
      "--memory-target ({} bytes) is less than the program, its clients and the index take: writes "
      "are refused; raise it, or look at the parts of DRAM in INFO memory",
      target);
}

class collector_management final : public management {
 public:
  collector_management(collector::object_collector& running, const heap::cold_backing& cold)
      : running_(running), cold_text_(cold.text()), cold_(cold.describe()) {
    running_.on_window([this](const collector::window_statistics& seen) { note(seen); });
  }

  std::string mode() const override {
    return collector::find_option("manage")->get(running_.configuration());
  }
  collector::window_statistics last_window() const override { return running_.last_window(); }
  collector::window_statistics collect() override { return running_.run_window(); }

  std::string problem() const override {
    const std::lock_guard lock(problem_mutex_);
    return problem_now();
  }
  void report_problem() override {
    const std::lock_guard lock(problem_mutex_);
    std::string now = problem_now();
    if (now == reported_) return;
    reported_ = std::move(now);
    log(log_level::warning, reported_.empty() ? "cold memory: the problem is over" : reported_);
  }
  bool refuses_growth() const noexcept override { return running_.refuses_growth(); }
  std::uint64_t memory_target_bytes() const override {
    return collector::target_now(running_.configuration());
  }
  std::uint64_t refused_cold_objects() const override {
    return heap::refused_allocations(heap::kind::cold);
  }

  heap::per_kind<heap::usage> heaps() const override {
    heap::per_kind<heap::usage> all;
    for (const heap::kind where : heap::kKinds) all[where] = heap::usage_of(where);
    return all;
  }

  std::vector<std::pair<std::string, std::string>> configuration() const override {
    const collector::options now = running_.configuration();
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& each : collector::option_table()) all.emplace_back(each.name, each.get(now));
    all.emplace_back("cold-backing", cold_text_);
    return all;
  }

  base::result<void> configure(std::string_view name, std::string_view value) override {
    const auto* const known = collector::find_option(name);
    if (!known || !known->is_live()) {
      return std::unexpected(base::error{
          fmt::format("unknown or fixed parameter '{}'; ISOTHERM CONFIG lists them", name)});
    }
    const std::lock_guard lock(mutex_);
    collector::options changed = running_.configuration();
    if (auto set = known->set(changed, value); !set) return set;
    return running_.reconfigure(changed);
  }

 private:
  /// At the end of a window.
  void note(const collector::window_statistics& seen) {
    const std::uint64_t refused = heap::refused_allocations(heap::kind::cold);
    {
      const std::lock_guard lock(problem_mutex_);
      window_problem_ = refused > refused_before_ ? explain_full(cold_) : seen.page_out_problem;
      refused_before_ = refused;
    }
    report_problem();
  }

  /// Requires: the mutex is held.
  std::string problem_now() const {
    if (heap::cold_reads().unanswered > 0) return explain_silent(cold_);
    if (heap::lost_reads() > 0) return explain_unreadable(cold_);
    if (window_problem_.empty() && running_.refuses_growth()) return explain_refusals(running_);
    return window_problem_;
  }

  collector::object_collector& running_;
  const std::string cold_text_;
  const heap::backing_description cold_;
  mutable std::mutex problem_mutex_;
  std::string window_problem_;  // of the last window
  std::string reported_;
  std::uint64_t refused_before_ = 0;
  std::mutex mutex_;  // two clients that change different parameters must not undo each other
};

}  // namespace

std::unique_ptr<management> make_management(collector::object_collector& running,
                                            const heap::cold_backing& cold) {
  return std::make_unique<collector_management>(running, cold);
}

}  // namespace isotherm::server
