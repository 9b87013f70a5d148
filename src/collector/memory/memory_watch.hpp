// Looks at the process's memory, and tells those who depend on it: what makes the process grow, and
// what comes back from COLD.
//
// The collector looks as it works. While it waits, as for a disk that does not answer, a thread of
// this looks in its place: threads that allocate would else be slowed for as long as the disk takes
// though there is room, and not be refused when there is none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

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

  /// What there is now; the target is 0 where the options hold the process to none. From start() to
  /// stop() this also says how much threads may allocate until the next look (growth_limit). Any
  /// thread; a tenth of a millisecond.
  memory_room look(const options& now);
  /// As object_collector::refuses_growth(). Any thread.
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
  memory_room last_{};
  std::chrono::steady_clock::time_point looked_at_;
};

}  // namespace isotherm::collector
