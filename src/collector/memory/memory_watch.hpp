// Observes the process's memory, and sets the limits that follow from it: of what makes the process
// grow, and of what comes back from COLD.
//
// The collector does both as it works. While it waits, as for a disk that does not answer, a thread
// of this does them in its place: threads that allocate would else be slowed for as long as the
// disk takes though there is room, and not be refused when there is none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "collector/memory/growth_limit.hpp"
#include "collector/memory/memory_room.hpp"
#include "collector/options.hpp"
#include "os/thread.hpp"

namespace isotherm::collector {

class memory_watch {
 public:
  memory_watch() = default;
  ~memory_watch() { stop(); }
  memory_watch(const memory_watch&) = delete;
  memory_watch& operator=(const memory_watch&) = delete;

  /// Begins to hold the process to its target, with the options that `configured` returns, which is
  /// called on another thread. Fails where the system gives none. Not while it runs.
  base::result<void> start(std::function<options()> configured);
  /// Nobody is held back any more. Idempotent.
  void stop() noexcept;

  /// Returns what there is now, and changes nothing; the target is 0 where the options hold the
  /// process to none; nullopt where the system does not say, as when no descriptor is left. Any
  /// thread; a tenth of a millisecond.
  static std::optional<memory_room> observe(const options& now);
  /// Sets, by what was observed, unless a later observation has set it, how much may come back from
  /// COLD until the next call, and from start() to stop() how much threads may allocate
  /// (growth_limit). Any thread.
  void apply(const memory_room& room);
  /// Returns the answer of object_collector::refuses_growth(). Any thread.
  bool refuses_growth() const noexcept { return growth_.refuses(); }

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::function<options()> configured_;  // written before the thread starts
  os::thread thread_;                    // of who calls start() and stop()
  // Under mutex_.
  bool is_running_ = false;
  growth_limit growth_;
  std::chrono::steady_clock::time_point observed_at_;  // of what was applied last
  std::chrono::steady_clock::time_point applied_at_;
};

}  // namespace isotherm::collector
