#include "collector/control.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "heap/upkeep.hpp"
#include "os/fork.hpp"

namespace isotherm::collector {

namespace {

base::atomic<bool> a_thread_runs{false};
base::atomic<bool> has_ever_run{false};
base::atomic<bool> forked{false};
/// One lock for all controls, held for a copy only, and by a thread that forks: so a child that
/// asks finds it free.
std::mutex settings;
/// One condition for all controls, since one thread of the process waits there. It outlives all
/// statics.
std::condition_variable& wake() {
  static auto* const made = new std::condition_variable;
  return *made;
}
bool is_asked_for_room = false;  // since the last wait; under `settings`

}  // namespace

void watch_forks() {
  [[maybe_unused]] static const bool registered = [] {
    os::at_fork([] { settings.lock(); }, [] { settings.unlock(); },
                [] {
                  if (has_ever_run.load_relaxed()) forked.store_relaxed(true);
                  a_thread_runs.store_relaxed(false);
                  heap::allow_growth(heap::kUnlimitedGrowth);
                  settings.unlock();
                });
    heap::tell_of_waits([]() noexcept {
      {
        const std::lock_guard lock(settings);
        is_asked_for_room = true;
      }
      wake().notify_all();
    });
    return true;
  }();
}

bool is_fork_of_a_collectors_process() noexcept { return forked.load_relaxed(); }

void record_window_run() noexcept { has_ever_run.store_relaxed(true); }

bool claim_thread() noexcept {
  bool running = false;
  return a_thread_runs.compare_exchange_acq_rel(running, true);
}

void release_thread() noexcept { a_thread_runs.store_release(false); }

options control::chosen() const {
  const std::lock_guard lock(settings);
  return chosen_;
}

void control::choose(const options& chosen) {
  {
    const std::lock_guard lock(settings);
    chosen_ = chosen;
  }
  // In a fork child the thread that waits on it is not there to be woken.
  if (!forked.load_relaxed()) wake().notify_all();
}

void control::set_callback(std::function<void(const window_statistics&)> callback) {
  const std::lock_guard lock(settings);
  callback_.swap(callback);  // what it was before goes behind the lock
}

window_statistics control::last_window() const {
  const std::lock_guard lock(settings);
  return last_;
}

window_statistics control::publish(window_statistics seen) {
  std::function<void(const window_statistics&)> tell;
  {
    const std::lock_guard lock(settings);
    last_ = seen = with_totals(std::move(seen), last_);
    tell = callback_;
  }
  if (tell) seen.callback_problem = problem_of(tell, seen);
  if (!seen.callback_problem.empty()) {
    const std::lock_guard lock(settings);
    last_.callback_problem = seen.callback_problem;
  }
  return seen;
}

options control::wait_for_window(time_point began, std::chrono::nanoseconds longest) {
  std::unique_lock lock(settings);
  const auto latest = std::chrono::steady_clock::now() + longest;
  if (!is_stopping() && !is_asked_for_room) {
    wake().wait_until(lock, std::min(began + length_of(chosen_), latest));
  }
  is_asked_for_room = false;
  return chosen_;
}

void control::rest(std::chrono::nanoseconds time) {
  std::unique_lock lock(settings);
  wake().wait_for(lock, time, [this] { return is_stopping(); });
}

void control::ask_to_stop() noexcept {
  {
    const std::lock_guard lock(settings);
    stopping_.store_release(true);
  }
  wake().notify_all();
}

}  // namespace isotherm::collector
