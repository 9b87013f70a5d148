// Work that takes longer than the other clients of an event loop can wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace isotherm::server {

/// Runs jobs one after the other on a thread of its own, which begins with the first. run() is for
/// any thread; stop() and the destructor for one controlling thread.
class background {
 public:
  background() = default;
  ~background() { stop(); }
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// After stop() jobs are dropped.
  void run(std::function<void()> job);
  /// Waits for the job that runs and drops those that have not begun.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace isotherm::server
