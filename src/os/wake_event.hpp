// A descriptor by which threads wake a thread that waits in poll() or epoll.
#pragma once

namespace isotherm::os {

class wake_event {
 public:
  /// Makes the descriptor; where the system gives none, descriptor() is its negative errno value.
  wake_event() noexcept;
  ~wake_event();
  wake_event(const wake_event&) = delete;
  wake_event& operator=(const wake_event&) = delete;

  /// Returns the descriptor, which is readable when wake() was called since acknowledge().
  int descriptor() const noexcept { return descriptor_; }
  /// Wakes the thread that waits. Thread: any.
  void wake() const noexcept;
  void acknowledge() const noexcept;

 private:
  const int descriptor_;
};

}  // namespace isotherm::os
