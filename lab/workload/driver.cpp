#include "lab/workload/driver.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "lab/workload/driving.hpp"
#include "lab/workload/inserted.hpp"
#include "os/clock.hpp"
#include "os/memory/process_memory.hpp"
#include "os/thread.hpp"

namespace isotherm::workload {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::uint64_t kLoadPiece = 4096;
constexpr auto kWatchEvery = std::chrono::milliseconds(50);
/// Nothing comes from a disk, or from compressed memory, in less: a request that took less is not
/// asked whether its thread waited, which would take a call of the system.
constexpr auto kLeastWait = std::chrono::microseconds(4);

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// State that all threads of a run share.
struct shared_state : run_end {
  shared_state(std::uint64_t loaded, unsigned threads) : inserts(loaded, threads) {}

  base::atomic<bool> measuring{false};
  inserted_keys inserts;
};

class worker {
 public:
  worker(session& store, target::place place, const plan& chosen, const key_chooser& chooser,
         touched_keys& used, shared_state& shared, meter& mine, unsigned index)
      : store_(store),
        place_(place),
        plan_(chosen),
        chooser_(chooser),
        used_(used),
        shared_(shared),
        mine_(mine),
        index_(index),
        stream_(chosen.workload.shares, chooser, chosen.seed, index) {}

  /// Serves until the shared stop.
  void run(clock::time_point start) {
    os::end_sleeps_on_time();
    std::vector<request> batch(kBatch);
    misses_ = thread_misses();
    auto free_since = start;
    for (std::uint64_t sent = 0; !shared_.stop.load_relaxed();) {
      stream_.grow_to(shared_.inserts.complete());
      stream_.fill(batch);
      note_misses();
      free_since = std::max(free_since, clock::now());
      for (const request& next : batch) {
        const auto begin = begin_of(sent++, start, free_since);
        if (shared_.stop.load_relaxed()) return;
        if (!before_ && shared_.measuring.load_relaxed()) before_ = mine_.read();
        auto how = perform(next);
        if (!how) return shared_.fail(std::move(how).error());
        const auto served_since = std::max(begin, free_since);
        free_since = clock::now();
        mine_.count(next.kind, *how,
                    static_cast<std::uint64_t>(nanoseconds(free_since - begin).count()));
        if (free_since - served_since >= kLeastWait && note_misses()) mine_.count_wait();
      }
    }
  }

  /// Returns the tally begun before the measured time; all, when that began and ended between two
  /// requests. After run().
  tally before() const { return before_ ? *before_ : mine_.read(); }

 private:
  /// Returns what this thread has waited for since it began, where that can be told.
  std::uint64_t thread_misses() const noexcept {
    if (place_ != target::place::caller) return 0;
    return os::thread_major_faults() + store_.objects_read();
  }
  /// Counts what this thread has waited for since the last call. Returns whether it has.
  bool note_misses() noexcept {
    const std::uint64_t misses = thread_misses();
    const std::uint64_t more = misses - std::exchange(misses_, misses);
    if (more > 0) mine_.add_misses(more);
    return more > 0;
  }

  /// When the request was, or should have been, sent: waits for it with a rate.
  clock::time_point begin_of(std::uint64_t sent, clock::time_point start,
                             clock::time_point free_since) const {
    if (plan_.rate <= 0) return free_since;
    const double turn = static_cast<double>(sent * plan_.threads + index_) / plan_.rate;
    const auto due = start + nanoseconds(static_cast<std::int64_t>(turn * 1e9));
    wait_until(due);
    return due;
  }

  base::result<answer> perform(const request& next) {
    if (next.kind == operation::insert) {
      const std::uint64_t number = shared_.inserts.begin(index_);
      used_.mark(number);
      auto how = store_.insert(number);
      shared_.inserts.end(index_);
      return how;
    }
    if (next.kind == operation::multiget) return read_all(next);
    const std::uint64_t number = number_of(next.key);
    if (next.kind == operation::incr) return store_.incr(number);  // uses no record
    used_.mark(number);
    switch (next.kind) {
      case operation::update:
        return store_.update(number);
      case operation::modify:
        return modify(number);
      case operation::remove:
        return store_.remove(number);
      case operation::scan:
        return store_.scan(number, next.scan_length, used_);
      default:
        return store_.read(number);
    }
  }

  /// An age was drawn below the count at the start of the batch, which has only grown.
  std::uint64_t number_of(std::uint64_t key) const noexcept {
    return chooser_.draws_ages() ? shared_.inserts.complete() - 1 - key : key;
  }

  base::result<answer> read_all(const request& next) {
    auto numbers = stream_.keys_of(next);
    for (std::uint64_t& number : numbers) {
      number = number_of(number);
      used_.mark(number);
    }
    return store_.read_all(numbers);
  }

  /// YCSB's read-modify-write: a read, then a write, in process as over a socket.
  base::result<answer> modify(std::uint64_t number) {
    auto how = store_.read(number);
    if (!how || *how != answer::done) return how;
    return store_.update(number);
  }

  session& store_;
  target::place place_;
  const plan& plan_;
  const key_chooser& chooser_;
  touched_keys& used_;
  shared_state& shared_;
  meter& mine_;
  unsigned index_;
  request_stream stream_;
  std::optional<tally> before_;  ///< what was done when the measured time began
  std::uint64_t misses_ = 0;     ///< thread_misses() at the last call of note_misses()
};

/// Watches the running threads through warm-up and measurement; returns the measured seconds.
double coordinate(const plan& chosen, shared_state& shared, const meters& counts,
                  const watcher& watch) {
  for (const bool warmup : {true, false}) {
    const double limit = warmup ? chosen.warmup_seconds : chosen.seconds;
    if (!warmup) shared.measuring.store_release(true);
    const auto began = clock::now();
    const std::uint64_t before = counts.operations();
    for (double now = 0; now < limit; now = seconds_since(began)) {
      if (shared.stop.load_relaxed()) return now;
      if (!watch({now, counts.operations() - before, warmup})) {
        shared.stop.store_release(true);
        return seconds_since(began);
      }
      std::this_thread::sleep_for(std::min(
          clock::duration(kWatchEvery),
          std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(limit - now))));
    }
    if (!warmup) {
      shared.stop.store_release(true);
      return seconds_since(began);
    }
  }
  return 0;
}

base::result<std::vector<std::unique_ptr<session>>> connect_all(target& store, unsigned threads) {
  std::vector<std::unique_ptr<session>> sessions;
  for (unsigned i = 0; i < threads; ++i) {
    auto one = store.connect();
    if (!one) return std::unexpected(std::move(one).error());
    sessions.push_back(std::move(*one));
  }
  return sessions;
}

outcome add_up(const meters& counts, std::span<const tally> before, double seconds) {
  outcome total;
  total.seconds = seconds;
  const tally all = counts.read();
  total.sums = all;
  total.done = counts.done();
  for (const tally& one : before) {
    total.sums.subtract(one);
    total.done_before.push_back(one.operations());
  }
  total.sums.missing = all.missing;
  total.sums.corrupt = all.corrupt;
  return total;
}

}  // namespace

std::uint64_t checksum_of_requests(const plan& chosen) {
  const key_chooser chooser(chosen.keys_by, chosen.keys);
  std::vector<request> batch(kBatch);
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < chosen.threads; ++i) {
    request_stream(chosen.workload.shares, chooser, chosen.seed, i).fill(batch);
    for (const request& next : batch) {
      sum = base::mix64(sum ^ next.key) + static_cast<std::uint64_t>(next.kind);
      sum += next.scan_length + next.more;
    }
  }
  return sum;
}

base::result<void> load(target& store, const plan& chosen, const watcher& watch) {
  auto sessions = connect_all(store, chosen.threads);
  if (!sessions) return std::unexpected(std::move(sessions).error());
  shared_state shared(0, chosen.threads);
  base::atomic<std::uint64_t> next{0};
  base::atomic<unsigned> running{chosen.threads};
  std::vector<os::thread> threads;
  for (auto& one : *sessions) {
    auto started = os::start_thread("iso-load", [&, mine = one.get()] {
      while (!shared.stop.load_relaxed()) {
        const std::uint64_t first = next.fetch_add_relaxed(kLoadPiece);
        if (first >= chosen.keys) break;
        auto how = mine->load(first, std::min(first + kLoadPiece, chosen.keys));
        if (!how) shared.fail(std::move(how).error());
      }
      running.fetch_sub_acq_rel(1);
    });
    if (!started) {
      shared.fail(std::move(started).error());
      running.fetch_sub_acq_rel(chosen.threads - static_cast<unsigned>(threads.size()));
      break;
    }
    threads.push_back(std::move(*started));
  }
  const auto began = clock::now();
  while (running.load_acquire() > 0) {
    const progress now{seconds_since(began), std::min(next.load_relaxed(), chosen.keys), true};
    if (!watch(now)) shared.stop.store_release(true);
    std::this_thread::sleep_for(kWatchEvery);
  }
  threads.clear();
  if (shared.failure) return std::unexpected(std::move(*shared.failure));
  return {};
}

base::result<outcome> run(target& store, const plan& chosen, meters& counts, touched_keys& used,
                          const watcher& watch) {
  if (chosen.workload.shares.scan > 0 && !store.can_scan()) {
    return std::unexpected(base::error{
        "workload e scans: it needs an ordered index in process (--index art, for example)"});
  }
  auto sessions = connect_all(store, chosen.threads);
  if (!sessions) return std::unexpected(std::move(sessions).error());
  const key_chooser chooser(chosen.keys_by, chosen.keys);
  shared_state shared(chosen.keys, chosen.threads);
  std::vector<tally> before(chosen.threads);
  std::vector<os::thread> threads;
  threads.reserve(chosen.threads);
  const auto start = clock::now();
  for (unsigned i = 0; i < chosen.threads; ++i) {
    auto started = os::start_thread("iso-load", [&, i] {
      worker mine(*(*sessions)[i], store.runs_in(), chosen, chooser, used, shared, counts[i], i);
      mine.run(start);
      before[i] = mine.before();
    });
    if (!started) {
      shared.fail(std::move(started).error());  // coordinate() sees that, and ends
      break;
    }
    threads.push_back(std::move(*started));
  }
  const double seconds = coordinate(chosen, shared, counts, watch);
  threads.clear();
  if (shared.failure) return std::unexpected(std::move(*shared.failure));
  return add_up(counts, before, seconds);
}

}  // namespace isotherm::workload
