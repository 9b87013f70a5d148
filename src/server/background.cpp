#include "server/background.hpp"

#include <utility>

namespace isotherm::server {

void background::run(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  jobs_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::jthread([this] { work(); });
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
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

void periodic::start(std::chrono::milliseconds pause, std::function<void()> work) {
  thread_ = std::jthread([this, pause, work = std::move(work)] {
    std::unique_lock lock(mutex_);
    do {
      lock.unlock();
      work();
      lock.lock();
    } while (!changed_.wait_for(lock, pause, [this] { return stopping_; }));
  });
}

void periodic::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace isotherm::server
