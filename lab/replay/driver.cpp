#include "lab/replay/driver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "lab/workload/driving.hpp"
#include "lab/workload/expiry.hpp"
#include "os/clock.hpp"
#include "os/memory/process_memory.hpp"
#include "os/thread.hpp"

namespace isotherm::replay {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto kWatchEvery = std::chrono::milliseconds(50);
/// Nothing comes from a disk in less: see lab/workload/driver.cpp.
constexpr auto kLeastWait = std::chrono::microseconds(4);

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// The state that all threads share.
struct shared_state : workload::run_end {
  base::atomic<unsigned> running{0};
  base::atomic<std::uint64_t> filled{0}, expired{0};
};

/// One thread's requests of the trace.
class own_requests {
 public:
  static base::result<own_requests> open(const replay_options& asked, const survey& seen,
                                         unsigned thread) {
    auto trace = traces::open(asked.trace, asked.how);
    if (!trace) return std::unexpected(std::move(trace).error());
    return own_requests(std::move(*trace), asked, seen, thread);
  }

  /// Goes to this thread's next request; false at the end.
  base::result<bool> next() {
    while (read_ < seen_->requests) {
      const auto more = trace_->next(request_);
      if (!more) return more;
      if (!*more) return false;
      ++read_;
      const std::string_view key = key_of_(request_);
      const std::uint64_t hash = hash_of(key);
      if ((hash >> 32) % threads_ != thread_) continue;
      const auto number = seen_->numbers.find(hash);
      if (!number) return std::unexpected(base::error{"the trace changed while it was replayed"});
      item_ = {key, *number};
      return true;
    }
    return false;
  }
  const traces::request& request() const noexcept { return request_; }
  /// Number of the request among all of the trace, from 0.
  std::uint64_t place() const noexcept { return read_ - 1; }
  const item& key() const noexcept { return item_; }
  std::uint32_t number() const noexcept { return static_cast<std::uint32_t>(item_.number); }
  std::uint32_t value_size() const noexcept {
    return request_.value_size > 0 ? request_.value_size : seen_->size_of(number(), otherwise_);
  }

 private:
  own_requests(std::unique_ptr<traces::source> trace, const replay_options& asked,
               const survey& seen, unsigned thread)
      : trace_(std::move(trace)),
        seen_(&seen),
        threads_(asked.bench.threads),
        thread_(thread),
        otherwise_(asked.value_size) {}

  std::unique_ptr<traces::source> trace_;
  const survey* seen_;
  unsigned threads_, thread_;
  std::uint32_t otherwise_;
  std::uint64_t read_ = 0;
  traces::request request_;
  stored_key key_of_;
  item item_;
};

class worker {
 public:
  worker(session& mine, const store& target, const replay_options& asked, const survey& seen,
         workload::meter& counts, workload::touched_keys& used, shared_state& shared)
      : store_(mine),
        waits_here_(target.runs_in() == workload::target::place::caller),
        store_expires_(target.can_expire() && asked.speed > 0),
        asked_(asked),
        seen_(seen),
        counts_(counts),
        used_(used),
        shared_(shared) {}

  base::result<void> run(own_requests trace, clock::time_point start) {
    os::end_sleeps_on_time();
    note_misses();
    while (!shared_.stop.load_relaxed()) {
      const auto more = trace.next();
      if (!more) return std::unexpected(more.error());
      if (!*more) break;
      const traces::request& next = trace.request();
      if (auto gone = expire(next.time_us); !gone) return gone;
      const auto begin = begin_of(trace, start);
      const auto served_since = clock::now();
      used_.mark(trace.key().number);
      const auto how = perform(trace);
      if (!how) return std::unexpected(how.error());
      const auto end = clock::now();
      counts_.count(counted_as(next.kind), *how, static_cast<std::uint64_t>((end - begin).count()));
      if (end - served_since >= kLeastWait && note_misses()) counts_.count_wait();
    }
    return {};
  }

 private:
  base::result<void> expire(std::uint64_t now_us) {
    return expiry_.run(now_us, [this](const item& of) -> base::result<void> {
      const auto how = store_.remove(of);
      if (!how) return std::unexpected(how.error());
      shared_.expired.fetch_add_relaxed(1);
      return {};
    });
  }

  /// The time from which a latency counts: that of the trace, for which this waits, or now.
  clock::time_point begin_of(const own_requests& trace, clock::time_point start) const {
    double due_s = 0;
    if (asked_.bench.rate > 0) {
      due_s = static_cast<double>(trace.place()) / asked_.bench.rate;
    } else if (asked_.speed > 0) {
      const std::uint64_t time_us = std::max(trace.request().time_us, seen_.first_us);
      due_s = static_cast<double>(time_us - seen_.first_us) / 1e6 / asked_.speed;
    } else {
      return clock::now();
    }
    constexpr double kMostSeconds = 1e9;  // of nanoseconds that a time point holds
    const auto due = start + std::chrono::nanoseconds(
                                 static_cast<std::int64_t>(std::min(due_s, kMostSeconds) * 1e9));
    while (!shared_.stop.load_relaxed() && due - clock::now() > kWatchEvery) {
      std::this_thread::sleep_for(kWatchEvery);
    }
    workload::wait_until(due);
    return due;
  }

  base::result<answer> perform(const own_requests& trace) {
    const traces::request& next = trace.request();
    const item& key = trace.key();
    switch (next.kind) {
      case traces::operation::set:
        return set(trace);
      case traces::operation::remove:
        expiry_.set(key, 0);
        return store_.remove(key);
      case traces::operation::incr:
        return store_.incr(key);
      case traces::operation::seek:
        return store_.seek(key, next.records, used_);
      default:
        return store_.get(key);
    }
  }

  base::result<answer> set(const own_requests& trace) {
    const traces::request& next = trace.request();
    const std::uint32_t bytes = trace.value_size();
    if (store_expires_) {
      constexpr double kMostMs = 1e15;
      const double ttl_ms = std::min(next.ttl_s * 1e3 / asked_.speed, kMostMs);
      return store_.set(trace.key(), bytes,
                        next.ttl_s == 0 ? 0 : std::max<std::uint64_t>(1, std::llround(ttl_ms)));
    }
    const std::uint64_t expires_us = next.time_us + std::uint64_t{next.ttl_s} * 1'000'000;
    const bool is_seen =
        next.ttl_s > 0 && expires_us <= seen_.last_us;  // else the trace ends first
    expiry_.set(trace.key(), is_seen ? expires_us : 0);
    return store_.set(trace.key(), bytes, 0);
  }

  /// Counts what this thread has waited for since the last call. Returns whether it has.
  bool note_misses() noexcept {
    if (!waits_here_) return false;
    const std::uint64_t misses = os::thread_major_faults() + store_.objects_read();
    const std::uint64_t more = misses - std::exchange(misses_, misses);
    if (more > 0) counts_.add_misses(more);
    return more > 0;
  }

  session& store_;
  bool waits_here_, store_expires_;
  const replay_options& asked_;
  const survey& seen_;
  workload::meter& counts_;
  workload::touched_keys& used_;
  shared_state& shared_;
  workload::expiry_times expiry_;
  std::uint64_t misses_ = 0;  ///< when note_misses() was called last
};

/// Runs `work(thread, session)` in each thread until all have ended or one fails, and the watcher
/// meanwhile, with the operations that `done()` tells. Returns the seconds that it took.
template <class Work, class Done>
base::result<double> in_threads(store& target, unsigned threads, shared_state& shared,
                                const workload::watcher& watch, const Work& work,
                                const Done& done) {
  std::vector<std::unique_ptr<session>> sessions;
  for (unsigned i = 0; i < threads; ++i) {
    auto one = target.connect();
    if (!one) return std::unexpected(std::move(one).error());
    sessions.push_back(std::move(*one));
  }
  const auto start = clock::now();
  std::vector<os::thread> started;
  for (unsigned i = 0; i < threads; ++i) {
    shared.running.fetch_add_acq_rel(1);
    auto one = os::start_thread("iso-replay", [&, i] {
      if (auto how = work(i, *sessions[i]); !how) shared.fail(std::move(how).error());
      shared.running.fetch_sub_acq_rel(1);
    });
    if (!one) {
      shared.fail(std::move(one).error());
      shared.running.fetch_sub_acq_rel(1);
      break;
    }
    started.push_back(std::move(*one));
  }
  // Acquire, with the release of a thread's last step: its counts are whole when it has ended.
  while (shared.running.load_acquire() > 0) {
    if (!watch({.seconds = seconds_since(start), .operations = done(), .is_warmup = false})) {
      shared.stop.store_release(true);
    }
    std::this_thread::sleep_for(kWatchEvery);
  }
  const double seconds = seconds_since(start);
  started.clear();
  if (shared.failure) return std::unexpected(std::move(*shared.failure));
  return seconds;
}

/// Inserts this thread's keys that are read first.
base::result<void> fill_own(own_requests trace, session& mine, const survey& seen,
                            std::vector<bool>& is_filled, shared_state& shared) {
  while (!shared.stop.load_relaxed()) {
    const auto more = trace.next();
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    const std::uint32_t number = trace.number();
    if (!seen.is_read_first[number] || is_filled[number]) continue;
    is_filled[number] = true;
    const auto how = mine.set(trace.key(), seen.size_of(number, trace.value_size()), 0);
    if (!how) return std::unexpected(how.error());
    shared.filled.fetch_add_relaxed(1);
  }
  return {};
}

}  // namespace

workload::operation counted_as(traces::operation kind) noexcept {
  switch (kind) {
    case traces::operation::get:
      return workload::operation::read;
    case traces::operation::set:
      return workload::operation::update;
    case traces::operation::remove:
      return workload::operation::remove;
    case traces::operation::incr:
      return workload::operation::incr;
    case traces::operation::seek:
      return workload::operation::scan;
  }
  return workload::operation::read;
}

base::result<std::uint64_t> fill(store& target, const replay_options& asked, const survey& seen,
                                 const workload::watcher& watch) {
  shared_state shared;
  const auto seconds = in_threads(
      target, asked.bench.threads, shared, watch,
      [&](unsigned thread, session& mine) -> base::result<void> {
        auto trace = own_requests::open(asked, seen, thread);
        if (!trace) return std::unexpected(std::move(trace).error());
        std::vector<bool> is_filled(seen.keys());
        return fill_own(std::move(*trace), mine, seen, is_filled, shared);
      },
      [&] { return shared.filled.load_relaxed(); });
  if (!seconds) return std::unexpected(seconds.error());
  return shared.filled.load_relaxed();
}

base::result<replayed> run(store& target, const replay_options& asked, const survey& seen,
                           workload::meters& counts, workload::touched_keys& used,
                           const workload::watcher& watch) {
  shared_state shared;
  const auto start = clock::now();
  const auto seconds = in_threads(
      target, asked.bench.threads, shared, watch,
      [&](unsigned thread, session& mine) -> base::result<void> {
        auto trace = own_requests::open(asked, seen, thread);
        if (!trace) return std::unexpected(std::move(trace).error());
        worker one(mine, target, asked, seen, counts[thread], used, shared);
        return one.run(std::move(*trace), start);
      },
      [&] { return counts.operations(); });
  if (!seconds) return std::unexpected(seconds.error());
  replayed made{.driven = {}, .expired = shared.expired.load_relaxed()};
  made.driven.seconds = *seconds;
  made.driven.sums = counts.read();
  made.driven.done_before.assign(asked.bench.threads, 0);
  made.driven.done = counts.done();
  return made;
}

}  // namespace isotherm::replay
