#include "os/thread_pool.hpp"

#include <algorithm>
#include <new>

namespace isotherm::os {

thread_pool::~thread_pool() {
  {
    const std::lock_guard guard(lock_);
    stop_ = true;
  }
  wake_.notify_all();
}

/// How many of `threads`, the caller included, there are now. Called with the lock held.
unsigned thread_pool::start(unsigned threads) {
  try {
    threads_.reserve(threads);
    while (threads_.size() + 1 < threads) {
      const auto t = static_cast<unsigned>(threads_.size() + 1);
      auto started = start_thread("iso-pool", [this, t] { work(t); });
      if (!started) break;  // those that there are do its part
      threads_.push_back(std::move(*started));
    }
  } catch (const std::bad_alloc&) {
    // Those that there are do its part.
  }
  return std::min(threads, static_cast<unsigned>(threads_.size() + 1));
}

void thread_pool::run(unsigned threads, const std::function<void(unsigned)>& body) {
  if (threads <= 1) return body(0);
  unsigned there = 0;
  {
    const std::lock_guard guard(lock_);
    there = start(threads);
    body_ = &body;
    wanted_ = there;
    pending_ = there - 1;
    thrown_ = nullptr;
    ++round_;
    wake_.notify_all();
  }
  run_part(body, 0);
  for (unsigned t = there; t < threads; ++t) run_part(body, t);
  std::unique_lock guard(lock_);
  done_.wait(guard, [this] { return pending_ == 0; });
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void thread_pool::run_part(const std::function<void(unsigned)>& body, unsigned t) noexcept {
  try {
    body(t);
  } catch (...) {
    const std::lock_guard guard(lock_);
    if (thrown_ == nullptr) thrown_ = std::current_exception();
  }
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
    run_part(*body, t);
    guard.lock();
    if (--pending_ == 0) done_.notify_one();
  }
}

}  // namespace isotherm::os
