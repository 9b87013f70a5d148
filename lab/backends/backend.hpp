// Backends: the mechanisms that move pages of a store out of DRAM, or between tiers, by address
// (OBASE 5.3). `isotherm bench backends` runs a store over each, with management off and on.
//
// A backend is a source that ends in its descriptor, a backend_kind, and a line in the list of
// backend.cpp. The harness (run.cpp) makes the swap space and the control group that it needs,
// loads the stores, lets the collector converge, and then calls start() and, ten times a second,
// step(). All changes of the system go through backed_run::changes: the harness undoes them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/backends/system/control_group.hpp"
#include "lab/backends/system/swap_area.hpp"
#include "lab/backends/system/system_changes.hpp"

namespace isotherm::lab {

/// How much DRAM a store is to have, and what a backend may be told besides.
struct backend_options {
  std::uint64_t budget_bytes = 0;  ///< DRAM that all stores of a run are to have together
  double pressure = 0.1;           ///< share of time in stalls that tmo bears, in per cent
  bool whole_machine = false;      ///< kswapd: the neighbour takes the machine's memory
};

/// A run, as a backend meets it.
struct backed_run {
  const backend_options& chosen;
  system_changes& changes;
  const control_group* group;  ///< of the stores; null where the kind does not need it and none
                               ///< could be made
  std::span<const pid_t> stores;
};

/// A backend at work. Thread: one.
class backend {
 public:
  virtual ~backend() = default;  ///< ends its processes and threads
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;

  /// Begins; the stores are loaded, and their collectors have converged.
  virtual base::result<void> start(backed_run&) { return {}; }
  /// Does its work of a tenth of a second.
  virtual void step(backed_run&) {}
  /// Returns the bytes of fast memory that the stores take, of a backend that has tiers. nullopt:
  /// the harness counts what the control group is charged for.
  virtual std::optional<std::uint64_t> fast_bytes(const backed_run&) const { return std::nullopt; }
  /// Returns the bytes in the control group that are not the stores'.
  virtual std::uint64_t foreign_bytes() const { return 0; }
  /// Returns figures of the backend for the report.
  virtual nlohmann::json details(const backed_run&) const { return nlohmann::json::object(); }

 protected:
  backend() = default;
};

/// How the managed store works under a backend.
enum class frontend : unsigned char {
  orders,  ///< COLD is mapped and gets no hint: the backend finds cold pages by itself
  hints,   ///< COLD is mapped, and the store asks that its pages leave (MADV_PAGEOUT)
  logs     ///< COLD is a file that the store writes and reads itself, held to the budget
};

/// Describes a backend.
struct backend_kind {
  std::string_view name;
  std::string_view help;  ///< for the help text
  frontend managed = frontend::orders;
  bool needs_group = true;
  std::optional<swap_place> swap = std::nullopt;  ///< in place of --swap
  bool needs_swap = true;
  bool has_tiers = false;  ///< pages begin on slow memory nodes; reads are counted by node
  std::span<const std::string_view> counters = {};  ///< rows of /proc/vmstat to report
  /// Returns why it cannot run on this machine and how to change that, in one line; empty: it can.
  /// Null: nothing hinders it but root, control groups and swap, which the harness checks.
  std::string (*why_not)(const backend_options& chosen) = nullptr;
  std::unique_ptr<backend> (*make)() = nullptr;
};

/// Makes a backend of a class, for backend_kind::make.
template <class Backend>
std::unique_ptr<backend> make_backend() {
  return std::make_unique<Backend>();
}

/// Returns all backends, in the order of the help.
std::span<const backend_kind* const> backend_kinds();

/// Returns the backend of that name. Errors: there is none; the message lists those that are.
base::result<const backend_kind*> find_backend(std::string_view name);

}  // namespace isotherm::lab
