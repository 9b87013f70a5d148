#include "collector/memory/memory_watch.hpp"

#include <new>
#include <utility>

#include "base/check.hpp"
#include "collector/memory/return_gate.hpp"

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
    const auto due = applied_at_ + kWatchEvery;
    wake_.wait_until(lock, due);
    const bool is_done = applied_at_ + kWatchEvery > due;  // by the collector
    if (!is_running_ || is_done) continue;
    applied_at_ = std::chrono::steady_clock::now();
    lock.unlock();
    try {
      if (const auto room = observe(configured_())) apply(*room);
    } catch (const std::bad_alloc&) {
      // Memory is short: the next observation may succeed.
    }
    lock.lock();
  }
}

std::optional<memory_room> memory_watch::observe(const options& now) {
  const auto begin = std::chrono::steady_clock::now();
  memory_room room = read_memory_room(now.memory_target_bytes);
  room.observed_at = begin;
  if (room.dram_bytes == 0) return std::nullopt;
  if (!holds_a_target(now)) room.target_bytes = 0;
  return room;
}

void memory_watch::apply(const memory_room& room) {
  const std::lock_guard lock(mutex_);
  if (room.observed_at < observed_at_) return;
  observed_at_ = room.observed_at;
  applied_at_ = std::chrono::steady_clock::now();
  gate().allow(room.returnable_bytes());
  is_running_ ? growth_.follow(room) : growth_.release();
}

}  // namespace isotherm::collector
