#include "collector/collector.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "base/page.hpp"
#include "collector/migration.hpp"
#include "collector/page_out.hpp"
#include "collector/scan.hpp"
#include "collector/threshold.hpp"
#include "heap/upkeep.hpp"
#include "os/clock.hpp"
#include "os/fork.hpp"
#include "os/memory/pressure.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "sync/retire.hpp"

namespace isotherm::collector {

namespace {

constexpr double kSecond = 1e9;
constexpr double kLongestWindow = 1e9;  // seconds; in nanoseconds it fits the clock
/// COLD is compacted when more than this share of it is dead, and it is worth the visit.
constexpr double kDeadShare = 0.25;
constexpr std::uint64_t kWorthCompacting = std::uint64_t{8} << 20;
/// stop() waits for so much reclamation.
constexpr std::uint64_t kReclaimedAtOnceUs = 10'000;

base::result<void> check(const options& chosen) {
  const auto refuse = [](const char* why) { return std::unexpected(base::error{why}); };
  if (!(chosen.window_seconds > 0 && chosen.window_seconds <= kLongestWindow)) {
    return refuse("the window must be longer than 0 seconds and at most 1e9");
  }
  if (chosen.cold_threshold < kMinThreshold || chosen.cold_threshold > kMaxThreshold) {
    return refuse("the cold threshold must be between 1 and 31 windows");
  }
  if (!(chosen.target_promotion_rate >= 0)) return refuse("the promotion rate can't be negative");
  if (!(chosen.min_rest_seconds >= 0)) return refuse("the rest of COLD can't be negative");
  if (chosen.batch_bytes == 0) return refuse("a batch must hold at least one byte");
  if (auto protocol = make_protocol(chosen.protocol); !protocol) {
    return std::unexpected(protocol.error());
  }
  return {};
}

/// Collectors of this process that run windows: at most one (SODA's hazard is one word).
std::mutex one_window_at_a_time;
base::atomic<bool> a_thread_runs{false};
/// A child could neither go on with what a window had half done at the fork, nor share a COLD file.
base::atomic<bool> has_ever_run{false};
base::atomic<bool> forked{false};
/// Guards what is set and asked of a collector while it runs. One for all of them, held for a copy
/// only, and by whoever forks: a child that asks must not wait for the parent's threads.
std::mutex settings;

/// Before there is any collector.
void watch_forks() {
  [[maybe_unused]] static const bool registered = [] {
    os::at_fork([] { settings.lock(); }, [] { settings.unlock(); },
                [] {
                  if (has_ever_run.load_relaxed()) forked.store_relaxed(true);
                  a_thread_runs.store_relaxed(false);
                  settings.unlock();
                });
    return true;
  }();
}

/// What `callback` threw, in one line; empty: nothing.
std::string problem_of(const std::function<void(const window_statistics&)>& callback,
                       const window_statistics& seen) try {
  callback(seen);
  return {};
} catch (const std::exception& thrown) {
  return std::string("the callback at the window's end threw: ") + thrown.what();
} catch (...) {
  return "the callback at the window's end threw what is no std::exception";
}

double seconds_since(std::uint64_t begin_ns) {
  return static_cast<double>(os::monotonic_ns() - begin_ns) / kSecond;
}

bool is_worth_compacting(const heap::packing& cold) noexcept {
  const auto dead = static_cast<double>(cold.used_bytes - cold.live_bytes);
  return cold.used_bytes > kWorthCompacting &&
         dead > kDeadShare * static_cast<double>(cold.used_bytes);
}

/// A window under way: what its phases share.
struct window {
  options chosen;  // when it began
  window_statistics seen;
  std::uint64_t begin_ns = os::monotonic_ns();
  std::uint64_t begin_cpu_ns = os::thread_cpu_ns();
  bool cold_was_watched = false;
};

}  // namespace

struct object_collector::state {
  explicit state(options o)
      : threshold(o.cold_threshold), asked_threshold(threshold), chosen(std::move(o)) {}

  unsigned threshold;        // the controller's
  unsigned asked_threshold;  // the option that it last started from
  std::unique_ptr<migration_protocol> protocol;
  scan_result found;
  std::uint64_t page_out_allowance = ~std::uint64_t{0};  // bytes that the last window had
  std::uint64_t windows = 0;
  std::uint64_t cold_bytes_before = 0;  // COLD at the end of the last window
  std::uint64_t last_end_ns = os::monotonic_ns();

  // Under `settings`.
  options chosen;
  std::function<void(const window_statistics&)> callback;
  window_statistics last;
  std::condition_variable wake;
  base::atomic<bool> stopping{false};  // set under it, for the sake of `wake`
  std::unique_ptr<os::thread> worker;

  void work();
  window_statistics run_window();
  bool is_stopping() const noexcept { return stopping.load_acquire(); }

  // The phases of a window.
  window begin();
  void scan_and_migrate(window& now);
  void compact_cold(migration& moves);
  void free_retired();
  void measure(window& now);
  void adapt_threshold(window& now);
  void page_out(window& now);
  window_statistics publish(window& now);
};

void object_collector::state::work() {
  std::unique_lock lock(settings);
  while (!is_stopping()) {
    const auto began = std::chrono::steady_clock::now();
    // Read anew at every wake: reconfigure() may have changed the length.
    const auto end = [&] {
      return began +
             std::chrono::nanoseconds(static_cast<std::int64_t>(chosen.window_seconds * kSecond));
    };
    while (!is_stopping() && std::chrono::steady_clock::now() < end()) {
      wake.wait_until(lock, end());
    }
    if (is_stopping()) return;
    lock.unlock();
    try {
      run_window();
    } catch (const std::bad_alloc&) {
      // Memory that the window itself asked for: what it did not get to waits for the next one.
    }
    lock.lock();
  }
}

window_statistics object_collector::state::run_window() {
  // Before the lock, which another thread may have held at the fork.
  ISO_CHECK(!forked.load_relaxed(), "no collector runs in a fork child");
  has_ever_run.store_relaxed(true);
  const std::lock_guard alone(one_window_at_a_time);
  window now = begin();
  scan_and_migrate(now);
  free_retired();
  now.seen.move_seconds = seconds_since(now.begin_ns) - now.seen.scan_seconds;
  measure(now);
  adapt_threshold(now);
  page_out(now);
  return publish(now);
}

window object_collector::state::begin() {
  window now;
  {
    const std::lock_guard lock(settings);
    now.chosen = chosen;
  }
  ISO_CHECK(check(now.chosen), "the options of a collector are in range");
  if (now.chosen.cold_threshold != asked_threshold) {
    threshold = asked_threshold = now.chosen.cold_threshold;
  }
  now.seen.window = ++windows;
  now.seen.window_seconds = static_cast<double>(now.begin_ns - last_end_ns) / kSecond;
  last_end_ns = now.begin_ns;
  found.clear();  // of a window that ended early, for want of memory
  return now;
}

/// Moves what the scan found whenever its list is full.
void object_collector::state::scan_and_migrate(window& now) {
  if (!protocol || protocol->name() != now.chosen.protocol) {
    protocol = *make_protocol(now.chosen.protocol);
  }
  const sync::patience patience(now.chosen.epoch_timeout_us, &stopping);
  migration moves(
      *protocol, {now.chosen.batch_bytes, patience}, [this] { return is_stopping(); }, now.seen);
  bool may_move = now.chosen.manage == mode::on;
  for (guides::progress so_far; !so_far.is_over && !is_stopping();) {
    const std::uint64_t begin_ns = os::monotonic_ns();
    // The last epoch's tracking scopes must be gone before counts that stayed behind are cleared.
    const bool nobody_counts = sync::wait_for_open_scopes(patience);
    scan({threshold, may_move, nobody_counts}, so_far, found, now.seen);
    now.seen.scan_seconds += seconds_since(begin_ns);
    may_move = may_move && moves.run(found.candidates);
  }
  // Only now: what was just promoted must not be found in COLD and sent back there.
  if (may_move && is_worth_compacting(heap::packing_of(heap::kind::cold))) compact_cold(moves);
}

void object_collector::state::compact_cold(migration& moves) {
  bool may_move = true;
  for (guides::progress so_far; may_move && !so_far.is_over && !is_stopping();) {
    find_cold_compactions(scan_options{}.list_bytes, so_far, found);
    may_move = moves.run(found.candidates);
  }
}

/// Frees what the threads have retired until now, as far as it may be freed.
void object_collector::state::free_retired() {
  guides::free_empty_blocks();
  std::size_t left = sync::retired_blocks();
  while (left > 0 && !is_stopping()) {
    const std::size_t freed = sync::reclaim_ready(kReclaimedAtOnceUs);
    if (freed == 0) return;
    left -= std::min(freed, left);
  }
}

/// What the pages that were used say.
void object_collector::state::measure(window& now) {
  window_statistics& seen = now.seen;
  seen.accessed_pages = seen.working_set_pages = found.pages.count();
  seen.accessed_cold_pages = found.pages.count(heap::kind::cold);
  seen.page_utilization = base::page_utilization(seen.accessed_bytes, seen.accessed_pages);
  seen.promotion_rate =
      promotion_rate(seen.accessed_cold_pages, seen.working_set_pages, seen.window_seconds);
  const std::uint64_t cold_bytes = heap::packing_of(heap::kind::cold).used_bytes;
  seen.cold_rest_seconds = mean_rest_seconds(cold_bytes / base::kPageBytes,
                                             seen.accessed_cold_pages, seen.window_seconds);
  now.cold_was_watched = was_watched(cold_bytes, cold_bytes_before);
  cold_bytes_before = cold_bytes;
}

void object_collector::state::adapt_threshold(window& now) {
  if (now.chosen.adaptive_threshold && now.seen.working_set_pages > 0 && now.cold_was_watched) {
    threshold =
        next_threshold(threshold, now.seen.promotion_rate, now.chosen.target_promotion_rate);
  }
  now.seen.cold_threshold = threshold;
}

/// Gives free memory back to the system and, where COLD may leave, hints its pages.
void object_collector::state::page_out(window& now) {
  if (now.chosen.manage != mode::on || is_stopping()) return;
  window_statistics& seen = now.seen;
  const std::uint64_t begin_ns = os::monotonic_ns();
  heap::trim();
  const bool cold_may_leave =
      now.cold_was_watched && may_leave(seen.promotion_rate, now.chosen.target_promotion_rate,
                                        seen.cold_rest_seconds, now.chosen.min_rest_seconds);
  if (now.chosen.hint != heap::hint::none && cold_may_leave) {
    const auto next = hurts(os::memory_pressure_percent().value_or(0), seen.cold_rest_seconds,
                            now.chosen.min_rest_seconds)
                          ? less
                          : more;
    page_out_allowance = next(page_out_allowance, now.chosen.page_out_bytes_per_window);
    heap::page_out_report report =
        heap::page_out_cold(now.chosen.hint, page_out_allowance, [this] { return is_stopping(); });
    seen.hinted_bytes = report.bytes_asked;
    seen.page_out_problem = std::move(report.problem);
  }
  seen.page_out_seconds = seconds_since(begin_ns);
}

/// Completes the statistics, keeps them and tells the callback.
window_statistics object_collector::state::publish(window& now) {
  window_statistics& seen = now.seen;
  for (const heap::kind where : heap::kKinds) {
    seen.heaps[where] = heap::usage_of(where, heap::residency::left_out);
  }
  found.clear();
  seen.collector_cpu_seconds =
      static_cast<double>(os::thread_cpu_ns() - now.begin_cpu_ns) / kSecond;
  std::function<void(const window_statistics&)> tell;
  {
    const std::lock_guard lock(settings);
    last = seen;
    tell = callback;
  }
  if (!tell) return seen;
  seen.callback_problem = problem_of(tell, seen);
  if (!seen.callback_problem.empty()) {
    const std::lock_guard lock(settings);
    last.callback_problem = seen.callback_problem;
  }
  return seen;
}

object_collector::object_collector(options chosen)
    : state_(std::make_unique<state>(std::move(chosen))) {
  watch_forks();
}

object_collector::~object_collector() {
  stop();
  // The parent's thread was perhaps waiting on it at the fork.
  if (forked.load_relaxed()) static_cast<void>(state_.release());
}

base::result<void> object_collector::start() {
  if (auto valid = check(configuration()); !valid) return valid;
  if (forked.load_relaxed()) {
    return std::unexpected(
        base::error{"this process was forked from one whose collector ran: its COLD pages are the "
                    "parent's, so no collector can run here (exec a new program instead)"});
  }
  has_ever_run.store_relaxed(true);
  bool running = false;
  if (!a_thread_runs.compare_exchange_acq_rel(running, true)) {
    return std::unexpected(base::error{"a collector already runs in this process: stop it first"});
  }
  state_->stopping.store_release(false);
  {
    const std::lock_guard alone(one_window_at_a_time);
    state_->last_end_ns = os::monotonic_ns();
  }
  const auto refused = [](const std::string& why) {
    a_thread_runs.store_release(false);
    return std::unexpected(base::error{"the system gives no thread to the collector (" + why +
                                       "): try again when there is memory"});
  };
  try {
    auto worker = std::make_unique<os::thread>();
    const os::signals_blocked in_the_new_thread;
    auto started = os::start_thread([this] { state_->work(); });
    if (!started) return refused(started.error().message);
    *worker = std::move(*started);
    state_->worker = std::move(worker);
  } catch (const std::bad_alloc& failure) {
    return refused(failure.what());
  }
  return {};
}

void object_collector::stop() noexcept {
  if (!state_->worker) return;
  if (forked.load_relaxed()) {  // the thread did not survive the fork: nothing to join
    static_cast<void>(state_->worker.release());
    return;
  }
  {
    const std::lock_guard lock(settings);
    state_->stopping.store_release(true);
  }
  state_->wake.notify_all();
  state_->worker->join();
  state_->worker.reset();
  state_->stopping.store_release(false);
  a_thread_runs.store_release(false);
}

bool object_collector::is_running() const noexcept {
  return state_->worker != nullptr && !forked.load_relaxed();
}

window_statistics object_collector::run_window() { return state_->run_window(); }

window_statistics object_collector::last_window() const {
  const std::lock_guard lock(settings);
  return state_->last;
}

void object_collector::on_window(std::function<void(const window_statistics&)> callback) {
  const std::lock_guard lock(settings);
  state_->callback.swap(callback);  // what it was before goes behind the lock
}

options object_collector::configuration() const {
  const std::lock_guard lock(settings);
  return state_->chosen;
}

base::result<void> object_collector::reconfigure(const options& chosen) {
  if (auto valid = check(chosen); !valid) return valid;
  {
    const std::lock_guard lock(settings);
    state_->chosen = chosen;
  }
  // In a fork child the thread that waits on it is not there to be woken.
  if (!forked.load_relaxed()) state_->wake.notify_all();
  return {};
}

}  // namespace isotherm::collector
