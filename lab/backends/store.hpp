// A store in a process of its own, which serves requests and says how far it has come.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "lab/backends/backend.hpp"
#include "lab/backends/system/child_process.hpp"
#include "lab/bench/options.hpp"

namespace isotherm::lab {

/// How far a store has come, in order.
enum class stage : unsigned char {
  loading,
  loaded,     ///< it waits for proceed()
  settling,   ///< it serves, and the collector converges
  adapting,   ///< it serves under the backend
  measuring,  ///< it serves, and what it does is counted
  ended       ///< it has reported, or has died
};
const char* name(stage reached) noexcept;

/// The work of a store.
struct store_plan {
  const bench_plan& bench;
  frontend managed;
  bool has_tiers;  ///< reads are counted by the node of their value
  double settle_seconds;
  std::uint64_t target_bytes;  ///< for frontend::logs: DRAM that it holds itself to
};

/// A store's process, as its parent sees it. Thread: one.
class store_process {
 public:
  /// Starts it in the control group, if there is one, and loads it.
  static base::result<store_process> start(const store_plan& plan, const control_group* group);

  pid_t pid() const noexcept { return process_.pid(); }
  int descriptor() noexcept { return process_.channel().descriptor(); }
  /// Lets a loaded store begin to serve.
  void proceed();
  /// Reads what has come from it, and returns how far it is.
  stage update();
  /// Returns the stage in which it was last seen at work.
  stage last_stage() const noexcept { return last_; }
  /// Returns its report. Requires: it has ended. Errors: it has died, or says what it lacks.
  base::result<nlohmann::json> report() const;

 private:
  explicit store_process(child_process process) : process_(std::move(process)) {}

  child_process process_;
  stage stage_ = stage::loading, last_ = stage::loading;
  base::result<nlohmann::json> report_ = std::unexpected(base::error{"ended"});
};

}  // namespace isotherm::lab
