#include "collector/collector.hpp"

#include <chrono>
#include <new>

#include "base/check.hpp"
#include "collector/control.hpp"
#include "collector/memory/memory_watch.hpp"
#include "collector/window/windows.hpp"
#include "heap/upkeep.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"

namespace isotherm::collector {

struct object_collector::state {
  explicit state(options chosen) : said(std::move(chosen)) {}

  base::result<void> start_threads();
  void work();
  bool wait_for_window();

  control said;
  memory_watch memory;
  windows all{said, memory};
  std::unique_ptr<os::thread> worker;
};

/// The collecting thread.
void object_collector::state::work() {
  while (wait_for_window()) {
    try {
      all.run();
    } catch (const std::bad_alloc&) {
      // Memory that the window itself asked for: what it did not get to waits for the next one.
    }
  }
}

/// Waits for the end of the window that begins now, and looks after memory meanwhile. False: the
/// collector is to stop.
bool object_collector::state::wait_for_window() {
  const auto began = std::chrono::steady_clock::now();
  for (bool is_due = false; !is_due;) {
    const auto longest = all.is_amid_eviction() ? std::chrono::milliseconds(0) : kLookEvery;
    const options now = said.wait_for_window(began, longest);
    if (said.is_stopping()) return false;
    try {
      is_due = all.maintain(began, now);
    } catch (const std::bad_alloc&) {
      // At the next look.
    }
    is_due |= std::chrono::steady_clock::now() >= began + length_of(said.chosen());
  }
  return !said.is_stopping();
}

object_collector::object_collector(options chosen)
    : state_(std::make_unique<state>(std::move(chosen))) {
  watch_forks();
}

object_collector::~object_collector() {
  stop();
  // The parent's thread was perhaps waiting on it at the fork.
  if (is_fork_of_a_collectors_process()) static_cast<void>(state_.release());
}

base::result<void> object_collector::start() {
  if (auto valid = check_on_this_machine(configuration()); !valid) return valid;
  if (is_fork_of_a_collectors_process()) {
    return std::unexpected(
        base::error{"this process was forked from one whose collector ran: its COLD is the "
                    "parent's, so no collector can run here (exec a new program instead)"});
  }
  record_window_run();
  if (!claim_thread()) {
    return std::unexpected(base::error{"a collector already runs in this process: stop it first"});
  }
  state_->said.allow_to_run();
  state_->all.begin_time();
  base::result<void> started;
  try {
    started = state_->start_threads();
  } catch (const std::bad_alloc& failure) {
    started = std::unexpected(base::error{failure.what()});
  }
  if (started) return {};
  state_->memory.stop();
  state_->all.set_paced(false);
  release_thread();
  return std::unexpected(base::error{"the system gives no thread to the collector (" +
                                     started.error().message +
                                     "): try again when there is memory"});
}

base::result<void> object_collector::state::start_threads() {
  auto handle = std::make_unique<os::thread>();
  all.set_paced(true);
  const os::signals_blocked in_the_new_threads;
  if (auto watched = memory.start([this] { return said.chosen(); }); !watched) return watched;
  auto started = os::start_thread("iso-collector", [this] { work(); }, os::scheduling::preempted);
  if (!started) return std::unexpected(started.error());
  *handle = std::move(*started);
  worker = std::move(handle);
  heap::treat_emptied_cold(heap::emptied::left);
  return {};
}

void object_collector::stop() noexcept {
  if (!state_->worker) return;
  if (is_fork_of_a_collectors_process()) {  // the thread did not survive the fork
    static_cast<void>(state_->worker.release());
    return;
  }
  state_->said.ask_to_stop();
  state_->worker->join();
  state_->worker.reset();
  state_->all.set_paced(false);
  state_->said.allow_to_run();
  state_->memory.stop();
  heap::treat_emptied_cold(heap::emptied::given_back);
  release_thread();
}

bool object_collector::refuses_growth() const noexcept {
  return state_->memory.refuses_growth() && !is_fork_of_a_collectors_process();
}

bool object_collector::is_running() const noexcept {
  return state_->worker != nullptr && !is_fork_of_a_collectors_process();
}

window_statistics object_collector::run_window() {
  // Before the lock, which another thread may have held at the fork.
  ISO_CHECK(!is_fork_of_a_collectors_process(), "no collector runs in a fork child");
  record_window_run();
  return state_->all.run();
}

std::shared_ptr<const page_uses> object_collector::last_page_uses() {
  return is_fork_of_a_collectors_process() ? nullptr : state_->all.last_page_uses();
}

std::optional<std::vector<seen_object>> object_collector::objects_in(const heap::range& where) {
  if (is_fork_of_a_collectors_process()) return std::nullopt;
  return state_->all.objects_in(where);
}

window_statistics object_collector::last_window() const { return state_->said.last_window(); }

void object_collector::on_window(std::function<void(const window_statistics&)> callback) {
  state_->said.set_callback(std::move(callback));
}

options object_collector::configuration() const { return state_->said.chosen(); }

base::result<void> object_collector::reconfigure(const options& chosen) {
  if (auto valid = check_on_this_machine(chosen); !valid) return valid;
  state_->said.choose(chosen);
  return {};
}

}  // namespace isotherm::collector
