// Pressure of a co-located process that takes memory (OBASE 5.3.1, "Kswapd").
//
// On a machine that others use, neighbour and stores share a control group whose limit is what the
// stores took at the start: the kernel then reclaims when the neighbour takes a page, in its
// context. The option backend_options::whole_machine is for a virtual machine: no limit is set, the
// neighbour leaves only the stores' budget of the machine's memory, and kswapd reclaims.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/numbers.hpp"
#include "lab/backends/backend.hpp"
#include "lab/backends/system/child_process.hpp"
#include "os/memory/locked.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
constexpr auto kPause = std::chrono::milliseconds(40);

/// Takes `bytes` of memory, a piece at a time, and keeps them until it is killed. Retries a piece
/// for which the kernel has found no page.
void take_memory(std::uint64_t bytes, line_channel& parent) {
  for (std::uint64_t taken = 0; taken < bytes;) {
    if (os::map_locked(kPiece)) {
      taken += kPiece;
      parent.send(std::to_string(taken));
    }
    std::this_thread::sleep_for(kPause);  // sets the pace: the stores use pages meanwhile
  }
  parent.next();
}

class neighbour final : public backend {
  base::result<void> start(backed_run& run) override {
    const std::uint64_t charged = run.group->memory().charged;
    const std::uint64_t above = charged - std::min(charged, run.chosen.budget_bytes);
    std::uint64_t free = 0;
    if (run.chosen.whole_machine) {
      free = os::number_after(read_text("/proc/meminfo"), "MemAvailable:").value_or(0) * 1024;
    } else {
      limit_ = std::max(charged, run.chosen.budget_bytes);
      if (auto waits = run.group->let_tasks_wait(); !waits) return waits;
    }
    wanted_ = free + above;
    auto started = child_process::start([&](line_channel& parent) {
      // Should the kernel find no page to take, the neighbour ends and not a store.
      const bool is_first = write_text("/proc/self/oom_score_adj", "1000").has_value();
      if (is_first && run.group->add(0)) take_memory(wanted_, parent);
    });
    if (!started) return std::unexpected(started.error());
    process_ = std::make_unique<child_process>(std::move(*started));
    step(run);
    return {};
  }

  void step(backed_run& run) override {
    if (limit_ > 0 && !run.group->holds(limit_)) run.group->lower_to(limit_);
    for (const std::string& line : process_->channel().received()) {
      taken_ = base::parse_number<std::uint64_t>(line).value_or(taken_);
    }
    if (!process_->channel().is_open()) taken_ = 0;
  }

  std::uint64_t foreign_bytes() const override { return taken_; }

  nlohmann::json details(const backed_run& run) const override {
    return {{"pressure_on", run.chosen.whole_machine ? "machine" : "group"},
            {"neighbour_wanted_bytes", wanted_},
            {"neighbour_bytes", taken_}};
  }

  std::unique_ptr<child_process> process_;
  std::uint64_t limit_ = 0;  ///< of the group; 0: none
  std::uint64_t wanted_ = 0, taken_ = 0;
};

constexpr std::string_view kCounters[] = {"pgsteal_kswapd", "pgsteal_direct", "pgscan_kswapd",
                                          "pgscan_direct"};

}  // namespace

extern const backend_kind kKswapd{.name = "kswapd",
                                  .help = "a co-located process takes memory",
                                  .counters = kCounters,
                                  .make = make_backend<neighbour>};

}  // namespace isotherm::lab
