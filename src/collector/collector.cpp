#include "collector/collector.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "base/page.hpp"
#include "collector/compaction.hpp"
#include "collector/memory/memory_room.hpp"
#include "collector/memory/memory_watch.hpp"
#include "collector/migration.hpp"
#include "collector/policy/page_out.hpp"
#include "collector/policy/policy.hpp"
#include "collector/policy/threshold.hpp"
#include "collector/policy/unusual_misses.hpp"
#include "collector/scan.hpp"
#include "guide/guide.hpp"
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
/// At each look at memory, and between two rests; stop() waits for so much reclamation.
constexpr std::uint64_t kReclaimedAtOnceUs = 10'000;
/// Each part is a pass over the guides, so that they are not too many.
constexpr std::uint64_t kMostParts = 64;
/// Share of a processor that moving and paging out take, while there is room in memory.
constexpr double kPacedShare = 0.25;
/// It works so long at a time.
constexpr std::uint64_t kTurnNs = 2'000'000;
constexpr double kLikelyBytes = 1024;  // of an object, until the first window has ended
/// A window ends early when a quarter of what NEW holds has no room any more.
constexpr std::uint64_t kNewbornShare = 4;

/// Collectors of this process that run windows: at most one (SODA's hazard is one word).
std::timed_mutex one_window_at_a_time;
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
                  heap::allow_growth(heap::kUnlimitedGrowth);
                  settings.unlock();
                });
    return true;
  }();
}

double seconds_since(std::uint64_t begin_ns) {
  return static_cast<double>(os::monotonic_ns() - begin_ns) / kSecond;
}

/// Work under way, at a window's end or between two: what its phases share.
struct window {
  options chosen;  // when it began
  window_statistics& seen;
  std::uint64_t begin_ns = os::monotonic_ns();
  std::uint64_t begin_cpu_ns = os::thread_cpu_ns();
  std::uint64_t begin_turn_cpu_ns = begin_cpu_ns;  // of work since the last rest
  std::uint64_t moved_since_relief = 0;            // bytes
  bool compacts_hot = false;                       // what moves makes no page of COLD
};

}  // namespace

struct object_collector::state {
  explicit state(options o) : chosen(std::move(o)) {}

  std::unique_ptr<migration_protocol> protocol;
  std::unique_ptr<policy> decides;
  touched_pages pages;
  hot_order order;
  page_watch watch;
  std::uint64_t windows = 0, last_end_ns = os::monotonic_ns();
  /// The next window may end early after so long, for want of memory.
  std::chrono::nanoseconds early_after = kLookEvery;
  cold_pages cold;
  unusual_misses unusual;
  memory_watch memory;
  base::atomic<bool> has_thread{false};
  // Of NEW and HOT after the last window: what an object takes, and extents over objects' bytes.
  double bytes_each = kLikelyBytes, spread = 0;
  window_statistics counted;  // of the window that is to end next

  // Under `settings`.
  options chosen;
  std::function<void(const window_statistics&)> callback;
  window_statistics last;
  std::condition_variable wake;
  base::atomic<bool> stopping{false};  // set under it, for the sake of `wake`
  std::unique_ptr<os::thread> worker;

  void work();
  bool look_after_memory(std::chrono::steady_clock::time_point began, const options& now);
  void page_out_used(const options& now);
  void migrate_returning(window& now);
  migration migration_of(window& now, std::function<void(std::uint64_t)> after_batch);
  window_statistics run_window();
  bool is_stopping() const noexcept { return stopping.load_acquire(); }

  // The phases of a window.
  options configured() const {
    const std::lock_guard lock(settings);
    return chosen;
  }
  window begin();
  void choose_ways(const options& chosen);
  void age_words(window& now);
  void migrate(window& now);
  void free_retired(window& now);
  void page_out(window& now);
  void note_memory(const window& now);
  window_statistics publish(window& now);

  memory_room look_at_memory(const options& now);
  static bool is_near_target(const memory_room& room);
  /// More pages of COLD are in DRAM than may be between two page-outs.
  bool has_many_cold_pages(const memory_room& room) const {
    return cold.in_dram(room) > cold_limit_bytes(room);
  }
  // Between batches.
  void after_batch(window& now, std::uint64_t bytes);
  void rest(window& now);
  void page_out_piece(window& now, std::uint64_t bytes);
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
    bool is_due = false;
    while (!is_stopping() && !is_due) {
      wake.wait_until(lock, std::min(end(), std::chrono::steady_clock::now() + kLookEvery));
      const options now = chosen;
      lock.unlock();
      try {
        is_due = look_after_memory(began, now);
      } catch (const std::bad_alloc&) {
        // At the next look.
      }
      lock.lock();
      is_due |= std::chrono::steady_clock::now() >= end();
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

memory_room object_collector::state::look_at_memory(const options& now) {
  const memory_room room = memory.look(now);
  cold.note(room);
  return room;
}

/// Between windows: pages of COLD that were used leave again when they are too many. True when the
/// window that began at `began` should end now: memory is short all the same, or too much misses.
bool object_collector::state::look_after_memory(std::chrono::steady_clock::time_point began,
                                                const options& now) {
  heap::give_back_emptied_cold();
  sync::reclaim_aside(kReclaimedAtOnceUs);
  const std::unique_lock alone(one_window_at_a_time, 2 * kSearchPiece);
  if (!alone) return false;  // a window that somebody asked for looks by itself
  memory_room room = look_at_memory(now);
  if (now.manage != mode::on || now.policy != policy_name::budget) return false;
  if (now.hint != heap::hint::none && has_many_cold_pages(room)) {
    page_out_used(now);
    cold.note_page_out(room = look_at_memory(now));
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  return (is_near_target(room) && elapsed >= early_after) ||
         unusual.end_window_now(gate().asked(), elapsed.count() / now.window_seconds);
}

/// Of NEW, which a load fills, nearly all can leave, and it takes a while.
bool object_collector::state::is_near_target(const memory_room& room) {
  const heap::usage newborn = heap::usage_of(heap::kind::newborn, heap::residency::left_out);
  return room.target_bytes != 0 &&
         room.dram_bytes + newborn.extent_bytes / kNewbornShare > room.target_bytes;
}

void object_collector::state::page_out_used(const options& now) {
  window between{now, counted};
  migrate_returning(between);
  const std::uint64_t begin_ns = os::monotonic_ns();
  page_out_piece(between, now.page_out_bytes_per_window);
  between.seen.page_out_seconds += seconds_since(begin_ns);
}

/// What is used in COLD, and often enough, is in HOT before its page leaves again.
void object_collector::state::migrate_returning(window& now) {
  if (!decides || !protocol) return;
  const std::uint64_t begin_ns = os::monotonic_ns();
  const std::uint64_t promoted_before = now.seen.promoted.objects;
  migration moves = migration_of(now, [](std::uint64_t) {});
  std::vector<candidate> returning;
  bool may_move = true;
  for (guides::progress so_far; !so_far.is_over && may_move && !is_stopping();) {
    choose_returning(*decides, look_at_memory(now.chosen).promotable_bytes(), so_far, returning);
    may_move = moves.run(returning);
  }
  now.seen.move_seconds += seconds_since(begin_ns);
  // The window's end finds them in HOT, and not used.
  const std::uint64_t returned = now.seen.promoted.objects - promoted_before;
  now.seen.accessed_objects += returned;
  now.seen.accessed_cold_objects += returned;
}

window_statistics object_collector::state::run_window() {
  // Before the lock, which another thread may have held at the fork.
  ISO_CHECK(!forked.load_relaxed(), "no collector runs in a fork child");
  has_ever_run.store_relaxed(true);
  const std::lock_guard alone(one_window_at_a_time);
  window now = begin();
  age_words(now);
  migrate(now);
  free_retired(now);
  decides->adapt(now.chosen, heap::packing_of(heap::kind::cold).used_bytes, now.seen);
  page_out(now);
  note_memory(now);
  return publish(now);
}

window object_collector::state::begin() {
  window now{configured(), counted};
  ISO_CHECK(check(now.chosen), "the options of a collector are in range");
  choose_ways(now.chosen);
  unusual.end_window(gate().asked());
  now.seen.window = ++windows;
  now.seen.window_seconds = static_cast<double>(now.begin_ns - last_end_ns) / kSecond;
  last_end_ns = now.begin_ns;
  pages.clear();  // of a window that ended early, for want of memory
  pages.note_in(watch.begin_window());
  if (pages.uses()) pages.uses()->begin(windows);
  return now;
}

/// The protocol and the policy that were asked for. What the words hold for another policy or
/// protocol says nothing to these, and is cleared; but not the counts of scopes that are still
/// open, and while there are any the words go on being used for counts.
void object_collector::state::choose_ways(const options& now) {
  const bool is_new_policy = !decides || decides->name() != now.policy;
  auto next = *make_protocol(now.protocol);
  const guides::word_use wanted = next->use_of_words();
  const bool ends_counts = guides::are_counted() && wanted == guides::word_use::history;
  if (ends_counts && !sync::wait_for_open_scopes(sync::patience(now.epoch_timeout_us, &stopping))) {
    if (protocol) return;  // both stay as they were until no scope counts
    decides = make_policy(policy_name::published);
    protocol = *make_protocol("counts");
    return;
  }
  if (is_new_policy) decides = make_policy(now.policy);
  if (!protocol || protocol->name() != now.protocol) protocol = std::move(next);
  const bool says_nothing = is_new_policy || wanted == guides::word_use::counts;
  if (ends_counts || (!guides::are_counted() && says_nothing)) clear_histories();
  guides::use_words_for(wanted);
}

/// What the window's uses make of the guides' words.
void object_collector::state::age_words(window& now) {
  const std::uint64_t begin_ns = os::monotonic_ns();
  // The last epoch's tracking scopes must be gone before counts that stayed behind are cleared.
  const sync::patience patience(now.chosen.epoch_timeout_us, &stopping);
  const bool may_clear = guides::are_counted() && sync::wait_for_open_scopes(patience);
  const returned came_back = gate().take_returned();
  count_returned(came_back, now.seen);
  decides->note_returned(came_back);
  decides->begin_ageing(now.chosen);
  order.begin();
  ageing visitor(*decides, may_clear ? counts_left::cleared : counts_left::kept, pages, order,
                 now.seen);
  now.seen.scanned_guides += guides::visit_due(visitor);
  measure(pages, now.seen);
  const memory_room room = look_at_memory(now.chosen);
  now.seen.resident_bytes = room.dram_bytes;
  now.seen.memory_target_bytes = room.target_bytes;
  const heap::usage warm = warm_memory();
  decides->weigh(
      now.chosen,
      {.target_bytes = now.chosen.hint == heap::hint::pageout ? room.target_bytes : 0,
       .dram_bytes = room.dram_bytes,
       .file_bytes = cold.in_dram(room),
       .cold_room_bytes = std::min(cold_limit_bytes(room), cold.expect()),
       .warm_bytes = warm.extent_bytes,
       .warm_object_bytes = warm.bytes,
       .cold_objects = heap::usage_of(heap::kind::cold, heap::residency::left_out).objects,
       .spread = spread},
      now.seen);
  decides->write_returns(gate());
  guides::set_return_policy(&gate());
  now.seen.scan_seconds += seconds_since(begin_ns);
}

migration object_collector::state::migration_of(window& now,
                                                std::function<void(std::uint64_t)> after_batch) {
  const sync::patience patience(now.chosen.epoch_timeout_us, &stopping);
  const memory_room room = look_at_memory(now.chosen);
  // Each batch waits for the scopes that are open, and whoever is slowed may hold one up.
  const std::uint64_t batch_bytes =
      room.is_short() ? std::max(now.chosen.batch_bytes, moved_together(room.target_bytes))
                      : now.chosen.batch_bytes;
  return {*protocol,
          {batch_bytes, patience},
          [this] { return is_stopping(); },
          std::move(after_batch),
          now.seen};
}

/// Moves, part by part of the heaps, what is not where it should be.
void object_collector::state::migrate(window& now) {
  if (now.chosen.manage != mode::on) return;
  migration moves =
      migration_of(now, [this, &now](std::uint64_t bytes) { after_batch(now, bytes); });
  const std::uint64_t together = moved_together(now.seen.memory_target_bytes);
  const source_parts parts(std::min(decides->expected_bytes() / together, kMostParts));
  const std::uint64_t begin_ns = os::monotonic_ns();
  const double scanned_before = now.seen.scan_seconds, moved_before = now.seen.move_seconds;
  std::vector<candidate> candidates;
  compaction compacts(moves, *decides, candidates, [this] { return is_stopping(); });
  bool may_move = true;
  for (std::uint64_t part = 0; part < parts.count() && may_move; ++part) {
    for (guides::progress so_far; !so_far.is_over && may_move && !is_stopping();) {
      const std::uint64_t begin_choice_ns = os::monotonic_ns();
      choose(*decides, parts, part, look_at_memory(now.chosen).promotable_bytes(), so_far,
             candidates);
      now.seen.scan_seconds += seconds_since(begin_choice_ns);
      may_move = moves.run(candidates);
      rest(now);
    }
    // What is used all the time has not moved, and would keep whole extents.
    heap::release_dead_pages(heap::kind::newborn);
    const std::uint64_t wanted = look_at_memory(now.chosen).short_bytes();
    now.compacts_hot = true;
    // Before what comes back from COLD, which is in the last part, and after it.
    if (may_move && (part + 2 >= parts.count() || wanted > 0)) {
      may_move = compacts.compact_hot({wanted, together, parts.end_of_hot(part)});
    }
    if (may_move && part + 1 == parts.count() && wanted == 0) {
      may_move = compacts.sort_hot(order, now.seen.window_seconds);
    }
    now.compacts_hot = false;
  }
  // Only now: what was just promoted must not be found in COLD and sent back there.
  if (may_move) compacts.compact_cold(compaction_bytes(now.chosen, now.seen, bytes_each));
  now.seen.move_seconds =
      moved_before + seconds_since(begin_ns) - (now.seen.scan_seconds - scanned_before);
}

/// Frees what the threads have retired until now, as far as it may be freed.
void object_collector::state::free_retired(window& now) {
  guides::free_empty_blocks();
  std::size_t left = sync::retired_blocks();
  for (std::size_t freed = 1; left > 0 && freed > 0 && !is_stopping(); rest(now)) {
    freed = sync::reclaim_ready(kReclaimedAtOnceUs);
    left -= std::min(freed, left);
  }
}

/// While objects move, what they left goes back to the system, and what they took or read in COLD
/// leaves DRAM: a first demotion moves nearly everything, which must not be in memory twice.
void object_collector::state::after_batch(window& now, std::uint64_t bytes) {
  heap::trim();  // a hole that is kept for another object keeps its extent
  if (!now.compacts_hot) now.moved_since_relief += bytes;
  if (now.chosen.policy == policy_name::budget) {
    const bool is_many = has_many_cold_pages(look_at_memory(now.chosen));
    if (is_many) migrate_returning(now);
    if (is_many || now.moved_since_relief >= moved_together(now.seen.memory_target_bytes)) {
      now.moved_since_relief = 0;
      page_out_piece(now, kMovedTogether);
      if (is_many) cold.note_page_out(look_at_memory(now.chosen));
    }
  }
  rest(now);
}

/// Gives back what was emptied. Leaves the processor to others in proportion to the work since the
/// last call, but not while memory is short or the next window would be late.
void object_collector::state::rest(window& now) {
  heap::give_back_emptied_cold();
  const std::uint64_t worked_ns = os::thread_cpu_ns() - now.begin_turn_cpu_ns;
  if (worked_ns < kTurnNs) return;
  const bool is_short =
      look_at_memory(now.chosen).is_short() && now.chosen.policy == policy_name::budget;
  const bool is_late = seconds_since(now.begin_ns) > now.chosen.window_seconds / 2;
  if (!is_short && !is_late && has_thread.load_acquire()) {
    const auto ns =
        static_cast<std::int64_t>(static_cast<double>(worked_ns) * (1 - kPacedShare) / kPacedShare);
    std::unique_lock lock(settings);
    wake.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return is_stopping(); });
  }
  now.begin_turn_cpu_ns = os::thread_cpu_ns();
}

/// Gives free memory back to the system and, where COLD may leave, hints its pages.
void object_collector::state::page_out(window& now) {
  if (now.chosen.manage != mode::on || is_stopping()) return;
  const std::uint64_t begin_ns = os::monotonic_ns();
  heap::trim();
  page_out_piece(now, decides->page_out_bytes(now.chosen, now.seen,
                                              os::memory_pressure_percent().value_or(0)));
  now.seen.page_out_seconds += seconds_since(begin_ns);
}

void object_collector::state::page_out_piece(window& now, std::uint64_t bytes) {
  if (now.chosen.hint == heap::hint::none || bytes == 0) return;
  heap::page_out_report report = heap::page_out_cold(now.chosen.hint, bytes, [&] {
    rest(now);
    return is_stopping();
  });
  now.seen.hinted_bytes += report.bytes_asked;
  if (!report.problem.empty()) now.seen.page_out_problem = std::move(report.problem);
}

/// What an object takes, the holes between them included, and when the next window may end early.
void object_collector::state::note_memory(const window& now) {
  const heap::usage warm = warm_memory();
  const auto extents = static_cast<double>(warm.extent_bytes);
  if (warm.objects > 0) bytes_each = extents / static_cast<double>(warm.objects);
  if (warm.bytes > 0) spread = extents / static_cast<double>(warm.bytes);
  const auto whole =
      std::chrono::nanoseconds(static_cast<std::int64_t>(now.chosen.window_seconds * kSecond));
  const memory_room room = look_at_memory(now.chosen);
  cold.begin_window(room);
  early_after = is_near_target(room)
                    ? next_early_end(early_after, now.seen.demoted.bytes, room.target_bytes, whole)
                    : kLookEvery;
}

/// Completes the statistics, keeps them and tells the callback.
window_statistics object_collector::state::publish(window& now) {
  window_statistics seen = std::exchange(now.seen, {});
  for (const heap::kind where : heap::kKinds) {
    seen.heaps[where] = heap::usage_of(where, heap::residency::left_out);
  }
  watch.end_window(pages.take_uses());
  pages.clear();
  seen.collector_cpu_seconds =
      static_cast<double>(os::thread_cpu_ns() - now.begin_cpu_ns) / kSecond;
  std::function<void(const window_statistics&)> tell;
  {
    const std::lock_guard lock(settings);
    last = seen = with_totals(std::move(seen), last);
    tell = callback;
  }
  if (tell) seen.callback_problem = problem_of(tell, seen);
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
  if (auto valid = check_on_this_machine(configuration()); !valid) return valid;
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
  const auto refused = [this](const std::string& why) {
    state_->memory.stop();
    state_->has_thread.store_release(false);
    a_thread_runs.store_release(false);
    return std::unexpected(base::error{"the system gives no thread to the collector (" + why +
                                       "): try again when there is memory"});
  };
  try {
    auto worker = std::make_unique<os::thread>();
    state_->has_thread.store_release(true);
    const os::signals_blocked in_the_new_threads;
    auto watched = state_->memory.start([this] { return state_->configured(); });
    if (!watched) return refused(watched.error().message);
    auto started =
        os::start_thread("iso-collector", [this] { state_->work(); }, os::scheduling::preempted);
    if (!started) return refused(started.error().message);
    *worker = std::move(*started);
    state_->worker = std::move(worker);
    heap::treat_emptied_cold(heap::emptied::left);
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
  state_->has_thread.store_release(false);
  state_->stopping.store_release(false);
  state_->memory.stop();
  heap::treat_emptied_cold(heap::emptied::given_back);
  a_thread_runs.store_release(false);
}

bool object_collector::refuses_growth() const noexcept {
  return state_->memory.refuses_growth() && !forked.load_relaxed();
}

bool object_collector::is_running() const noexcept {
  return state_->worker != nullptr && !forked.load_relaxed();
}

window_statistics object_collector::run_window() { return state_->run_window(); }

std::shared_ptr<const page_uses> object_collector::last_page_uses() {
  return forked.load_relaxed() ? nullptr : state_->watch.look();
}

std::optional<std::vector<seen_object>> object_collector::objects_in(const heap::range& where) {
  std::unique_lock alone(one_window_at_a_time, std::try_to_lock);
  if (!alone || !state_->decides || forked.load_relaxed()) return std::nullopt;
  return find_objects(*state_->decides, where, alone, state_->windows);
}

window_statistics object_collector::last_window() const {
  const std::lock_guard lock(settings);
  return state_->last;
}

void object_collector::on_window(std::function<void(const window_statistics&)> callback) {
  const std::lock_guard lock(settings);
  state_->callback.swap(callback);  // what it was before goes behind the lock
}

options object_collector::configuration() const { return state_->configured(); }

base::result<void> object_collector::reconfigure(const options& chosen) {
  if (auto valid = check_on_this_machine(chosen); !valid) return valid;
  {
    const std::lock_guard lock(settings);
    state_->chosen = chosen;
  }
  // In a fork child the thread that waits on it is not there to be woken.
  if (!forked.load_relaxed()) state_->wake.notify_all();
  return {};
}

}  // namespace isotherm::collector
