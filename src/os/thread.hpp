// Threads. If the system gives none, that is an error and no exception.
#pragma once

#include <functional>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace isotherm::os {

/// How the kernel is to schedule a thread.
enum class scheduling : unsigned char {
  usual,
  /// For a thread that others should not have to wait for. It asks for slices of 10 ms, where the
  /// kernel's own have 3 at most (EEVDF, since Linux 6.12; older kernels do nothing): a thread that
  /// wakes with shorter slices may then take the processor from it before its slice has ended. Its
  /// share of the processor stays the same, and it needs no privilege. Threads that it starts
  /// inherit the slice.
  preempted
};

/// A running thread, or none. Movable; the destructor and assignment wait until it has ended.
class thread {
 public:
  thread() noexcept = default;
  /// Whether there is one that was not waited for.
  bool joinable() const noexcept { return running_.joinable(); }
  /// Waits until it has ended; it must be joinable().
  void join() { running_.join(); }

 private:
  friend base::result<thread> start_thread(const char*, std::function<void()>, scheduling);
  explicit thread(std::jthread running) noexcept : running_(std::move(running)) {}
  std::jthread running_;
};

/// Runs `body`, which must not throw, on a new thread; an error where the system gives none. `name`
/// is what the system shows for it (top -H, /proc/PID/task/TID/comm): a literal of at most 15
/// characters.
base::result<thread> start_thread(const char* name, std::function<void()> body,
                                  scheduling how = scheduling::usual);

}  // namespace isotherm::os
