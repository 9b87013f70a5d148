// A limit on the stores' control group: the kernel reclaims what exceeds it, when a store asks for
// a page.
#include "lab/backends/backend.hpp"

namespace isotherm::lab {
namespace {

class limit final : public backend {
  base::result<void> start(backed_run& run) override {
    if (auto waits = run.group->let_tasks_wait(); !waits) return waits;
    step(run);
    return {};
  }
  void step(backed_run& run) override {
    if (!run.group->holds(run.chosen.budget_bytes)) run.group->lower_to(run.chosen.budget_bytes);
  }
  nlohmann::json details(const backed_run& run) const override {
    return {{"limit_bytes", run.chosen.budget_bytes},
            {"limit_holds", run.group->holds(run.chosen.budget_bytes)}};
  }
};

}  // namespace

extern const backend_kind kCgroup{
    .name = "cgroup", .help = "a limit on the control group", .make = make_backend<limit>};

extern const backend_kind kZram{.name = "zram",
                                .help = "the same limit, with swap in compressed memory",
                                .swap = swap_place::zram,
                                .make = make_backend<limit>};

}  // namespace isotherm::lab
