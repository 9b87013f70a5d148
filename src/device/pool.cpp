#include "device/pool.hpp"

namespace isotherm::device {

thread_pool::~thread_pool() {
  {
    const std::lock_guard guard(lock_);
    stop_ = true;
  }
  wake_.notify_all();
}

void thread_pool::run(unsigned threads, const std::function<void(unsigned)>& body) {
  if (threads > 1) {
    const std::lock_guard guard(lock_);
    body_ = &body;
    wanted_ = threads;
    pending_ = threads - 1;
    ++round_;
    while (threads_.size() + 1 < threads) {
      const auto t = static_cast<unsigned>(threads_.size() + 1);
      threads_.emplace_back([this, t] { work(t); });
    }
    wake_.notify_all();
  }
  body(0);
  if (threads <= 1) return;
  std::unique_lock guard(lock_);
  done_.wait(guard, [this] { return pending_ == 0; });
}

void thread_pool::work(unsigned t) {
  std::uint64_t seen = 0;
  std::unique_lock guard(lock_);
  for (;;) {
    wake_.wait(guard, [&] { return stop_ || (round_ != seen && t < wanted_); });
    if (stop_) return;
    seen = round_;
    const auto* body = body_;
    guard.unlock();
    (*body)(t);
    guard.lock();
    if (--pending_ == 0) done_.notify_one();
  }
}

}  // namespace isotherm::device
