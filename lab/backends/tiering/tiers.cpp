#include "lab/backends/tiering/tiers.hpp"

namespace isotherm::lab {
namespace {

constexpr const char* kMode = "/proc/sys/kernel/numa_balancing";
constexpr const char* kDemotion = "/sys/kernel/mm/numa/demotion_enabled";

}  // namespace

base::result<void> tiering::start(backed_run& run) {
  const char* const demotes = demotes_ == demotion::on ? "true" : "false";
  const std::string mode = std::to_string(static_cast<unsigned>(mode_));
  if (auto wrote = run.changes.write(kDemotion, demotes); !wrote) return wrote;
  if (auto wrote = run.changes.write(kMode, mode); !wrote) return wrote;
  std::vector<unsigned> all = nodes_.fast;
  all.insert(all.end(), nodes_.slow.begin(), nodes_.slow.end());
  return run.group->allow_nodes(run.changes, all);
}

std::optional<std::uint64_t> tiering::fast_bytes(const backed_run& run) const {
  return run.group->bytes_on(nodes_.fast);
}

nlohmann::json tiering::details(const backed_run& run) const {
  return {{"slow_bytes", run.group->bytes_on(nodes_.slow)}};
}

std::string why_no_tiering() {
  if (read_text(kMode).empty() || read_text(kDemotion).empty()) {
    return "the kernel moves no pages between nodes: it needs CONFIG_NUMA_BALANCING";
  }
  if (!find_memory_nodes().slow.empty()) return {};
  return "this machine has no memory node without processors: lab/experiments/vm/run.py runs it in "
         "a virtual machine that has one";
}

}  // namespace isotherm::lab
