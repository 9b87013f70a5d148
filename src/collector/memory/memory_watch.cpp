#include "collector/memory/memory_watch.hpp"

#include <new>
#include <utility>

#include "base/check.hpp"
#include "collector/return_gate.hpp"

namespace isotherm::collector {

namespace {
/// The collector looks twice as often, if it can.
constexpr auto kWatchEvery = 2 * kLookEvery;
}  // namespace

base::result<void> memory_watch::start(std::function<options()> configured) {
  ISO_CHECK(!thread_.joinable(), "a watch that runs is not started again");
  configured_ = std::move(configured);
  {
    const std::lock_guard lock(mutex_);
    is_running_ = true;
  }
  auto started = os::start_thread("iso-memory", [this] { watch(); });
  if (!started) {
    stop();
    return std::unexpected(started.error());
  }
  thread_ = std::move(*started);
  return {};
}

void memory_watch::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_running_ = false;
    growth_.release();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void memory_watch::watch() {
  std::unique_lock lock(mutex_);
  while (is_running_) {
    const auto due = looked_at_ + kWatchEvery;
    wake_.wait_until(lock, due);
    const bool has_looked = looked_at_ + kWatchEvery > due;  // the collector
    if (!is_running_ || has_looked) continue;
    looked_at_ = std::chrono::steady_clock::now();
    lock.unlock();
    try {
      look(configured_());
    } catch (const std::bad_alloc&) {
      // At the next look.
    }
    lock.lock();
  }
}

memory_room memory_watch::look(const options& now) {
  const std::lock_guard lock(mutex_);
  looked_at_ = std::chrono::steady_clock::now();
  const memory_room room = read_memory_room(now.memory_target_bytes);
  if (room.dram_bytes == 0) return last_;  // out of descriptors: /proc could not be read
  last_ = room;
  gate().allow(room.returnable_bytes());
  if (!holds_a_target(now)) last_.target_bytes = 0;
  is_running_ ? growth_.follow(last_) : growth_.release();
  return last_;
}

}  // namespace isotherm::collector
