#include "watched_call.hpp"

#include <nanobind/stl/string.h>

#include <chrono>

#include "os/thread.hpp"

namespace isotherm::python {

void watched_call::watch(sort_options& options) {
  options.stop = stop_.get_token();
  if (progress_.is_none()) return;
  options.progress = [this](sort_stage stage, std::uint64_t done, std::uint64_t total) {
    report(std::string(name(stage)), done, total);
  };
}

// Only the last report of a step counts: Python may be slower than the sort.
void watched_call::report(std::string step, std::uint64_t done, std::uint64_t total) {
  const std::lock_guard guard(lock_);
  if (events_.empty() || events_.back().step != step) events_.push_back({std::move(step), 0, 0});
  events_.back().done = done;
  events_.back().total = total;
}

void watched_call::run_beside(const std::function<void()>& body) {
  std::exception_ptr failed;
  thrown_ = nullptr;
  ended_ = false;
  auto thread = os::start_thread("isotherm-call", [&] {
    try {
      body();
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard guard(lock_);
    ended_ = true;
    wake_.notify_one();
  });
  if (!thread) throw failure{thread.error()};
  {
    const nb::gil_scoped_release without;
    wait();
    thread->join();
  }
  if (!thrown_) serve(events_);
  events_.clear();
  if (thrown_) std::rethrow_exception(thrown_);
  if (failed) std::rethrow_exception(failed);
}

void watched_call::wait() {
  constexpr std::chrono::milliseconds kBetweenLooks(50);
  std::unique_lock guard(lock_);
  while (!wake_.wait_for(guard, kBetweenLooks, [&] { return ended_; })) {
    if (thrown_) continue;
    const std::vector<event> events = std::exchange(events_, {});
    guard.unlock();
    {
      const nb::gil_scoped_acquire with;
      serve(events);
    }
    guard.lock();
  }
}

/// Requires the GIL.
void watched_call::serve(const std::vector<event>& events) {
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (progress_.is_none()) return;
    for (const event& each : events) progress_(each.step, each.done, each.total);
  } catch (...) {
    thrown_ = std::current_exception();
    stop_.request_stop();
  }
}

}  // namespace isotherm::python
