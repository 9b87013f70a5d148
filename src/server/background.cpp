#include "server/background.hpp"

#include <stdexcept>
#include <utility>

namespace isotherm::server {

void background::run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  if (!thread_.joinable()) {
    auto started = os::start_thread("iso-background", [this] { work(); });
    if (!started) throw std::runtime_error(started.error().message);
    thread_ = std::move(*started);
  }
  jobs_.push_back(std::move(job));
  changed_.notify_one();
}

void background::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void background::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // frees what it holds, which may take a while, before others wait for the lock
    lock.lock();
  }
}

}  // namespace isotherm::server
