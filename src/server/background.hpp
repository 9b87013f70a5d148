// Work that takes longer than the clients of an event loop can wait, on threads of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "os/thread.hpp"

namespace isotherm::server {

/// Runs jobs one after the other on a thread of its own, which starts with the first job. Any
/// thread may call run(); only one controlling thread stop() and the destructor.
class background {
 public:
  background() = default;
  ~background() { stop(); }
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// Runs `job` later; drops it after stop(). Throws where the system gives no thread for it.
  void run(std::function<void()> job);
  /// Waits for the job that runs, and drops those that have not begun.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  os::thread thread_;
};

}  // namespace isotherm::server
