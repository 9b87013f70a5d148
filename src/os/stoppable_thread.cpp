#include "os/stoppable_thread.hpp"

#include <utility>

#include "base/check.hpp"
#include "os/signals.hpp"

namespace isotherm::os {

base::result<void> stoppable_thread::start(const char* name, std::function<void()> body,
                                           scheduling how) {
  ISO_CHECK(!thread_.joinable(), "a thread that runs is not started again");
  is_stopping_ = false;
  const signals_blocked in_the_new_thread;
  auto started = start_thread(name, std::move(body), how);
  if (!started) return std::unexpected(started.error());
  thread_ = std::move(*started);
  return {};
}

void stoppable_thread::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool stoppable_thread::rest_for(std::chrono::nanoseconds pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return is_stopping_; });
}

}  // namespace isotherm::os
