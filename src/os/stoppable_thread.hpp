// A thread that works in rounds, rests between them, and can be stopped in its rest.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/error.hpp"
#include "os/thread.hpp"

namespace isotherm::os {

/// start(), stop() and the destructor are for one controlling thread, which is not the started one.
class stoppable_thread {
 public:
  stoppable_thread() = default;
  ~stoppable_thread() { stop(); }
  stoppable_thread(const stoppable_thread&) = delete;
  stoppable_thread& operator=(const stoppable_thread&) = delete;

  /// Runs `body`, which must not throw and returns once rest_for() has returned false. The thread
  /// takes no signals (signals_blocked). Requires: none runs. Errors: the system gives no thread.
  base::result<void> start(const char* name, std::function<void()> body,
                           scheduling how = scheduling::usual);
  /// Ends the rest of the thread, if there is one, and waits until it has ended. Idempotent.
  void stop() noexcept;

  /// Rests so long. Returns: false once stop() was called, at once. Thread: the started one.
  bool rest_for(std::chrono::nanoseconds pause);

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopping_ = false;  // under mutex_
  thread thread_;
};

}  // namespace isotherm::os
