// A collector's settings and its last window, for any thread; its stop; and the rule that a process
// has one collector at most, and a fork child none.
#pragma once

#include <chrono>
#include <functional>

#include "base/atomic.hpp"
#include "collector/options.hpp"
#include "collector/statistics.hpp"

namespace isotherm::collector {

/// Thread-safe. No function waits for a thread of the collector: in a fork child, where there is
/// none, all return.
class control {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit control(options chosen) : chosen_(std::move(chosen)) {}

  options chosen() const;
  /// Wakes wait_until().
  void choose(const options& chosen);
  void set_callback(std::function<void(const window_statistics&)> callback);

  window_statistics last_window() const;
  /// Completes `seen` with its totals, keeps it as the last window and calls the callback. Returns
  /// what was kept. The collecting thread.
  window_statistics publish(window_statistics seen);

  // Called by the collecting thread, and by the one that stops it.
  /// Waits until the end of the window that began at `began`, at most for `longest`, or until there
  /// are new options, the stop, or a thread that waits for room (heap::tell_of_waits). Returns the
  /// options then.
  options wait_for_window(time_point began, std::chrono::nanoseconds longest);
  /// Waits for so long, or until the stop.
  void rest(std::chrono::nanoseconds time);
  void ask_to_stop() noexcept;
  /// The thread that was asked to stop has ended, or none was started.
  void allow_to_run() noexcept { stopping_.store_release(false); }
  bool is_stopping() const noexcept { return stopping_.load_acquire(); }
  const base::atomic<bool>& stopping() const noexcept { return stopping_; }

 private:
  // Under the lock of all controls (control.cpp).
  options chosen_;
  std::function<void(const window_statistics&)> callback_;
  window_statistics last_;
  // Set under the lock, for the sake of threads that wait. The release pairs with the acquire of
  // is_stopping(), which reads it without.
  base::atomic<bool> stopping_{false};
};

/// Makes the functions below hold for the forks that follow. Any number of times.
void watch_forks();
/// Whether this process was forked from one in which a window had ever run, or could have. Such a
/// child could neither go on with what a window had half done, nor share a COLD file.
bool is_fork_of_a_collectors_process() noexcept;
/// From now on windows run in this process.
void record_window_run() noexcept;
/// Takes the right to run a collector's thread; false: another collector has it.
bool claim_thread() noexcept;
void release_thread() noexcept;

}  // namespace isotherm::collector
