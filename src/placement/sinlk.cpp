#include "placement/sinlk.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "placement/node_memory.hpp"
#include "placement/visit_record.hpp"
#include "sync/retire.hpp"

namespace isotherm::placement {

namespace {

// Leaves that a batch visits, in some tenths of a millisecond. Its scope is open so long, and while
// it moves the nodes that it found: nothing that was retired meanwhile can be freed.
constexpr unsigned kLeavesPerBatch = 4096;
constexpr std::uint32_t kIntervalMsMax = 3'600'000;
constexpr double kNoShare = -1;
constexpr thresholds kFixedThresholds{.hot = 8, .cold = 4};

/// Adds the calling thread's processor time, in its lifetime, to a sum of seconds.
class stopwatch {
 public:
  explicit stopwatch(double& sum) noexcept : sum_(sum), begin_(os::thread_cpu_ns()) {}
  ~stopwatch() { sum_ += static_cast<double>(os::thread_cpu_ns() - begin_) / 1e9; }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

 private:
  double& sum_;
  const std::uint64_t begin_;
};

/// Bytes of fast memory that are taken, in pages, which is what it is made of: nodes that have left
/// leave holes. The slab that each size of nodes fills at the moment counts by its nodes.
std::uint64_t taken_bytes() noexcept {
  constexpr std::uint64_t kOpenSlabs = 64 << 10;
  const std::uint64_t pages = used_page_bytes(tier::fast);
  return std::max(used_bytes(tier::fast), pages - std::min(pages, kOpenSlabs));
}

constexpr std::uint64_t nanoseconds_of(std::uint32_t ms) noexcept {
  return std::uint64_t{ms} * 1'000'000;
}

std::uint64_t share_of(std::uint64_t bytes, double share) noexcept {
  return static_cast<std::uint64_t>(share * static_cast<double>(bytes));
}

}  // namespace

base::result<void> check(const sinlk_options& chosen) {
  const auto refuse = [](const char* why) { return std::unexpected(base::error{why, 0}); };
  for (const std::uint32_t each : {chosen.trigger_ms, chosen.cooling_ms, chosen.watermark_ms}) {
    if (each == 0 || each > kIntervalMsMax) {
      return refuse("the intervals of node placement are of 1 to 3,600,000 ms");
    }
  }
  const auto& marks = chosen.watermarks;
  if (!(0 < marks.low && marks.low < marks.high && marks.high <= 1)) {
    return refuse("watermarks of fast memory: 0 < low < high <= 1");
  }
  if (chosen.fast.share && !(*chosen.fast.share >= 0 && *chosen.fast.share <= 1)) {
    return refuse("fast memory is a share of 0 to 1 of what the nodes take");
  }
  if (!(0 < chosen.trigger_share && chosen.trigger_share <= 1)) {
    return refuse("the trigger's share of a processor is above 0 and at most 1");
  }
  return {};
}

/// The background thread's part. `moving_` is held while leaves are visited and nodes are moved.
class sinlk::workers {
 public:
  explicit workers(sinlk& owner) : owner_(owner), watermark_(owner.chosen_.watermarks) {}

  void visit_once(placed_tree& tree, use_counts counts) {
    const std::lock_guard alone(moving_);
    begin_visit(counts == use_counts::halved ? 1 : 0);
    maintain();
    for (bool is_over = false; !is_over;) {
      is_over = step(tree);
      sync::reclaim_ready();  // what was demoted takes its place in fast memory until then
    }
    maintain();
    publish();
  }

  void look_once(placed_tree& tree, std::uint64_t now_ns, std::uint64_t leaves);

  base::result<void> start(placed_tree& tree) {
    stopping_ = false;
    const os::signals_blocked in_the_new_thread;
    auto started = os::start_thread("iso-sinlk", [this, &tree] { work(tree); });
    if (!started) return std::unexpected(started.error());
    thread_ = std::move(*started);
    return {};
  }
  void stop() noexcept {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(state_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  /// Any thread. A call that comes while the thread is about to wait may be missed: it looks again
  /// within the watermark's interval.
  void strain() noexcept {
    if (!is_woken_.exchange_acq_rel(true)) wake_.notify_all();
  }
  sinlk_statistics statistics() const {
    const std::lock_guard lock(state_);
    return published_;
  }

 private:
  double usage() const noexcept {
    const std::uint64_t room = owner_.room(), used = taken_bytes();
    if (room == 0) return used == 0 ? 0 : 2;
    return static_cast<double>(used) / static_cast<double>(room);
  }
  /// How far promotion fills fast memory. Not up to the high mark: there a strain would begin, and
  /// undo it.
  std::uint64_t full_bytes() const noexcept {
    const auto& marks = owner_.chosen_.watermarks;
    const bool is_passive = owner_.chosen_.variant == sinlk_variant::passive_demotion;
    return share_of(owner_.room(), is_passive ? marks.high : (marks.low + marks.high) / 2);
  }
  /// Whether nodes, which may fill holes in pages, leave fast memory below what promotion may fill,
  /// and its pages below the high mark.
  bool may_promote() const noexcept {
    return used_bytes(tier::fast) < full_bytes() &&
           taken_bytes() < share_of(owner_.room(), owner_.chosen_.watermarks.high);
  }
  /// Begins a visit that halves each count `halvings` times on the way.
  void begin_visit(unsigned halvings) {
    cursor_.clear();
    seen_ = {};
    halvings_ = halvings;
    demoted_before_ = stats_.moved.demoted_nodes;
  }
  /// Leaves next to each other, some of them hot, for which fast memory had no room.
  struct waiting_leaves {
    std::string cursor;
    unsigned leaves;
    std::uint64_t bytes;  // what the hot ones and their paths take in slow memory
    std::uint64_t visit;
  };
  /// Promotes what waits, where there is room, or else visits leaves. True: the last were visited.
  bool step(placed_tree& tree) { return !promote_waiting(tree) && visit_batch(tree); }
  bool visit_batch(placed_tree& tree);
  void promote(const sync::scope& inside, migration& batch);
  bool promote_waiting(placed_tree& tree);
  bool is_promoted(const visited_leaf& leaf) const noexcept {
    return is_slow(leaf.path.back()) && leaf.uses.value() >= stats_.limits.hot;
  }
  /// It is hot by the shares of the watermark, and there is room that no hotter leaf waits for.
  bool fills_room(const visited_leaf& leaf, const migration& batch) const noexcept {
    return leaf.uses.value() >= hot_by_share_ &&
           used_bytes(tier::fast) + waiting_bytes_ + batch.promotion_bytes() < full_bytes();
  }
  void look_at(migration& batch, const visited_leaf& leaf);
  bool keeps_fast_node(std::span<void* const> path) const noexcept;
  void end_visit();
  unsigned halvings_due();
  void choose_limits();
  void maintain();
  void work(placed_tree& tree);
  void relieve(placed_tree& tree);
  template <class IsSpent>
  void take_turn(placed_tree& tree, IsSpent is_spent);
  template <class MakeBudget>
  void look(placed_tree& tree, std::function<std::uint64_t()> now, MakeBudget budget);
  bool is_stopping() const {
    const std::lock_guard lock(state_);
    return stopping_;
  }
  void publish() {
    const std::lock_guard lock(state_);
    published_ = stats_;
    published_.fast_bytes_limit = owner_.room();
    published_.fast_bytes = used_bytes(tier::fast);
    published_.slow_bytes = used_bytes(tier::slow);
  }

  sinlk& owner_;
  std::mutex moving_;
  hyper_watermark watermark_;
  // The visit of all leaves that is under way, and the last whole one.
  std::string cursor_;
  visit_record seen_;
  access_histogram last_uses_;
  level_bounds levels_;
  double share_that_fits_ = 1;
  thresholds exchange_limits_ = access_histogram().choose(0, 0);
  std::uint32_t hot_by_share_ = 0;
  std::deque<waiting_leaves> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t demoted_before_ = 0;
  // Under strain: a visit of all leaves demotes until nodes take no more. Pages cannot tell when it
  // is enough: those that nodes leave are free once all nodes on them are, and no scope sees them.
  std::uint64_t strained_to_ = 0;
  unsigned halvings_ = 0;
  bool is_visited_ = false, is_in_vain_ = false;
  // Monotonic, in ns; of the look under way. Before the first look no time passes.
  std::function<std::uint64_t()> now_ = [] { return std::uint64_t{0}; };
  bool gave_up_ = false;  // the last look demoted nothing in a visit of all leaves
  std::uint64_t next_turn_ns_ = 0, cooled_until_ns_ = 0;
  std::uint64_t visited_leaves_ = 0;
  sinlk_statistics stats_;

  mutable std::mutex state_;
  std::condition_variable wake_;
  base::atomic<bool> is_woken_{false};
  bool stopping_ = false;
  sinlk_statistics published_;
  os::thread thread_;
};

void sinlk::workers::look_at(migration& batch, const visited_leaf& leaf) {
  std::uint16_t count = leaf.uses.value();
  if (halvings_ > 0 && count > 0) {
    leaf.uses.set(count = static_cast<std::uint16_t>(count >> halvings_));
  }
  seen_.add(leaf, count);
  if (is_promoted(leaf) || (fills_room(leaf, batch) && is_slow(leaf.path.back()))) {
    if (!watermark_.is_strained()) batch.queue_promotion(leaf.path);
    return;
  }
  // Levels that fit whole: all searches pass them, though no leaf below may be hot (SINLK, 7).
  if (const std::size_t upper = std::min<std::size_t>(levels_.least, leaf.path.size() - 1);
      upper > 0 && is_slow(leaf.path[upper - 1]) && !watermark_.is_strained()) {
    batch.queue_promotion(leaf.path, upper);
  }
  if (count < stats_.limits.cold && (is_fast(leaf.path.back()) || keeps_fast_node(leaf.path))) {
    batch.queue_demotion(leaf.path);
  }
}

/// Whether the lowest fast node above a slow leaf is one that may be demoted.
bool sinlk::workers::keeps_fast_node(std::span<void* const> path) const noexcept {
  std::size_t fast = path.size();
  while (fast > 0 && is_slow(path[fast - 1])) --fast;
  return fast > stats_.now.demote_level && is_fast(path[fast - 1]);
}

/// Visits leaves for a while and moves what is to be moved. True: that was the last of them.
bool sinlk::workers::visit_batch(placed_tree& tree) {
  const sync::scope inside;
  migration batch(tree, stats_.moved);
  bool is_more = false;
  unsigned leaves = 0;
  std::string begin = cursor_;
  {
    const stopwatch timed(stats_.used.trigger);
    is_more = tree.visit_leaves(inside, cursor_, [&](const visited_leaf& leaf) {
      look_at(batch, leaf);
      return ++leaves < kLeavesPerBatch;
    });
    visited_leaves_ += leaves;
  }
  const bool is_strained = watermark_.is_strained();
  const std::uint64_t wanted = waiting_bytes_ + batch.promotion_bytes();
  {
    const stopwatch timed(stats_.used.demotion);
    batch.demote(inside, stats_.now.demote_level, [&] {
      return is_strained ? used_bytes(tier::fast) > strained_to_
                         : used_bytes(tier::fast) + wanted > full_bytes();
    });
  }
  if (!is_strained) promote(inside, batch);
  if (const std::uint64_t bytes = batch.promotion_bytes(); bytes > 0) {
    waiting_.push_back({std::move(begin), leaves, bytes, stats_.visits});
    waiting_bytes_ += bytes;
  }
  if (!is_more) end_visit();
  return !is_more;
}

void sinlk::workers::promote(const sync::scope& inside, migration& batch) {
  const stopwatch timed(stats_.used.promotion);
  batch.promote(inside, [this] { return may_promote(); });
}

/// Promotes of the leaves that have waited longest what is still hot. False: none wait, or demotion
/// has not made room yet.
bool sinlk::workers::promote_waiting(placed_tree& tree) {
  if (waiting_.empty() || watermark_.is_strained() ||
      used_bytes(tier::fast) + waiting_.front().bytes > full_bytes()) {
    return false;
  }
  waiting_leaves next = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= next.bytes;
  const sync::scope inside;
  migration batch(tree, stats_.moved);
  {
    const stopwatch timed(stats_.used.trigger);
    tree.visit_leaves(inside, next.cursor, [&](const visited_leaf& leaf) {
      if (is_promoted(leaf)) batch.queue_promotion(leaf.path);
      ++visited_leaves_;
      return --next.leaves > 0;
    });
  }
  promote(inside, batch);
  return true;
}

/// How often the cooler's interval has ended since the last visit began: a visit of many leaves
/// that takes longer makes up for it, but for what would leave too little of a count to rank by.
unsigned sinlk::workers::halvings_due() {
  constexpr std::uint64_t kMost = 4;
  const std::uint64_t interval = nanoseconds_of(owner_.chosen_.cooling_ms);
  const std::uint64_t now = now_();
  if (cooled_until_ns_ == 0) cooled_until_ns_ = now;
  const std::uint64_t due = (now - cooled_until_ns_) / interval;
  cooled_until_ns_ += due * interval;
  return static_cast<unsigned>(std::min(due, kMost));
}

void sinlk::workers::end_visit() {
  seen_.finish();
  last_uses_ = seen_.uses();
  const std::uint64_t room = share_of(owner_.room(), owner_.chosen_.watermarks.low);
  levels_ = seen_.bounds(room);
  share_that_fits_ = last_uses_.share_that_fits(room);
  const std::uint64_t used = used_bytes(tier::fast), full = full_bytes();
  // The shares follow what this visit has found, not what the one before has.
  stats_.now = watermark_.follow(share_that_fits_);
  exchange_limits_ =
      last_uses_.choose_exchange(last_uses_.choose(stats_.now.hot_share, stats_.now.cold_share),
                                 full > used ? full - used : 0);
  // This visit has visited again the leaves that had waited for a whole one.
  for (; !waiting_.empty() && waiting_.front().visit < stats_.visits; waiting_.pop_front()) {
    waiting_bytes_ -= waiting_.front().bytes;
  }
  stats_.leaves = last_uses_.leaves();
  ++stats_.visits;
  is_visited_ = true;
  is_in_vain_ = stats_.moved.demoted_nodes == demoted_before_;
  begin_visit(halvings_due());
}

/// The watermark maintainer's turn.
void sinlk::workers::maintain() {
  const stopwatch timed(stats_.used.watermark);
  const bool was_strained = watermark_.is_strained();
  const auto order = watermark_.check(
      {.usage = usage(), .share = share_that_fits_, .levels = levels_, .is_done = is_visited_});
  stats_.now = watermark_.now();
  stats_.strains += watermark_.is_strained() && !was_strained;
  owner_.fast_levels_.store_relaxed(stats_.now.fast_levels);
  choose_limits();
  if (order != hyper_watermark::order::demote_now) return;
  const std::uint64_t low = share_of(owner_.room(), owner_.chosen_.watermarks.low),
                      nodes = used_bytes(tier::fast), pages = taken_bytes();
  strained_to_ = nodes - std::min(nodes, pages - std::min(pages, low));
  is_visited_ = false;
  begin_visit(0);
}

void sinlk::workers::choose_limits() {
  const auto variant = owner_.chosen_.variant;
  const bool is_strained = watermark_.is_strained();
  const thresholds by_share = variant == sinlk_variant::fixed_thresholds
                                  ? kFixedThresholds
                                  : last_uses_.choose(stats_.now.hot_share, stats_.now.cold_share);
  hot_by_share_ = by_share.hot;
  const bool is_exchange = !is_strained && variant != sinlk_variant::fixed_thresholds;
  stats_.limits = is_exchange ? exchange_limits_ : by_share;
  if (variant == sinlk_variant::passive_demotion && !is_strained) stats_.limits.cold = 0;
}

/// Demotes, all leaves after all leaves, until the strain is over; gives up for now after a visit
/// of all that has demoted nothing.
void sinlk::workers::relieve(placed_tree& tree) {
  while (watermark_.is_strained() && !is_stopping()) {
    const bool is_whole = step(tree);
    sync::reclaim_ready();  // what was demoted takes its place in fast memory until then
    maintain();
    gave_up_ = is_whole && is_in_vain_;
    if (gave_up_) return;
  }
}

/// The migration trigger's turn.
template <class IsSpent>
void sinlk::workers::take_turn(placed_tree& tree, IsSpent is_spent) {
  // In a small tree a turn visits all leaves, and once.
  bool is_over = false;
  while (!is_over) {
    is_over = step(tree) || is_spent() || is_stopping() || usage() > owner_.chosen_.watermarks.high;
    sync::reclaim_ready();
  }
}

/// Looks at the marks, and takes a turn if it is due, until what `budget` makes says that it is
/// spent.
template <class MakeBudget>
void sinlk::workers::look(placed_tree& tree, std::function<std::uint64_t()> now,
                          MakeBudget budget) {
  const std::lock_guard alone(moving_);
  now_ = std::move(now);
  gave_up_ = false;
  is_woken_.store_release(false);
  maintain();
  relieve(tree);
  if (const std::uint64_t begin = now_(); begin >= next_turn_ns_) {
    take_turn(tree, budget());
    next_turn_ns_ = begin + nanoseconds_of(owner_.chosen_.trigger_ms);
  }
  publish();
}

void sinlk::workers::look_once(placed_tree& tree, std::uint64_t now_ns, std::uint64_t leaves) {
  look(
      tree, [now_ns] { return now_ns; },
      [&] { return [this, end = visited_leaves_ + leaves] { return visited_leaves_ >= end; }; });
}

void sinlk::workers::work(placed_tree& tree) {
  const auto& chosen = owner_.chosen_;
  const auto share_ns = static_cast<std::uint64_t>(
      chosen.trigger_share * static_cast<double>(nanoseconds_of(chosen.trigger_ms)));
  const auto budget = [share_ns] {
    return [end = os::thread_cpu_ns() + share_ns] { return os::thread_cpu_ns() >= end; };
  };
  next_turn_ns_ = os::monotonic_ns() + nanoseconds_of(chosen.trigger_ms);
  for (;;) {
    {
      const std::uint64_t now = os::monotonic_ns(),
                          until_turn = next_turn_ns_ - std::min(now, next_turn_ns_);
      const auto rest =
          std::chrono::nanoseconds(std::min(until_turn, nanoseconds_of(chosen.watermark_ms)));
      std::unique_lock lock(state_);
      // No allocation wakes a thread that has found nothing to demote: it waits for its interval.
      wake_.wait_for(lock, rest,
                     [this] { return stopping_ || (is_woken_.load_acquire() && !gave_up_); });
      if (stopping_) return;
    }
    look(tree, os::monotonic_ns, budget);
  }
}

sinlk::sinlk(const sinlk_options& chosen)
    : chosen_(chosen),
      fast_bytes_(chosen.fast.bytes),
      fast_share_(chosen.fast.share.value_or(kNoShare)),
      fast_levels_(~0U),
      workers_(std::make_unique<workers>(*this)) {}

sinlk::~sinlk() { workers_->stop(); }

std::uint64_t sinlk::room() const noexcept {
  const double share = fast_share_.load_relaxed();
  if (share < 0) return std::min(fast_bytes_.load_relaxed(), capacity());
  return share_of(used_bytes(tier::fast) + used_bytes(tier::slow), share);
}

tier sinlk::choose(std::size_t bytes, const node_place& place) noexcept {
  const std::uint64_t room = this->room(), used = taken_bytes() + bytes;
  if (used > share_of(room, chosen_.watermarks.high)) workers_->strain();
  // The rule comes before the limit: what must be fast may exceed it, until demotion has made room.
  for (const void* below : place.covers) {
    if (is_fast(below)) return tier::fast;
  }
  const bool is_upper = place.level < fast_levels_.load_relaxed() ||
                        chosen_.variant == sinlk_variant::separate_allocation;
  const bool may_be_fast = is_upper && !is_slow(place.parent);
  return may_be_fast && used <= room ? tier::fast : tier::slow;
}

base::result<void> sinlk::start(placed_tree& tree) { return workers_->start(tree); }
void sinlk::stop() noexcept { workers_->stop(); }

void sinlk::resize(const fast_size& size) noexcept {
  fast_bytes_.store_relaxed(size.bytes);
  fast_share_.store_relaxed(size.share.value_or(kNoShare));
  workers_->strain();
}

fast_size sinlk::size() const noexcept {
  const double share = fast_share_.load_relaxed();
  if (share < 0) return {.bytes = fast_bytes_.load_relaxed()};
  return {.share = share};
}

sinlk_statistics sinlk::statistics() const { return workers_->statistics(); }

std::vector<statistic> sinlk::report() const {
  const sinlk_statistics seen = statistics();
  return {
      {"fast_bytes", seen.fast_bytes},
      {"fast_bytes_limit", seen.fast_bytes_limit},
      {"slow_bytes", seen.slow_bytes},
      {"leaves", seen.leaves},
      {"visits", seen.visits},
      {"strains", seen.strains},
      {"hot_from_uses", std::uint64_t{seen.limits.hot}},
      {"cold_below_uses", std::uint64_t{seen.limits.cold}},
      {"promoted_nodes", seen.moved.promoted_nodes},
      {"promoted_bytes", seen.moved.promoted_bytes},
      {"demoted_nodes", seen.moved.demoted_nodes},
      {"demoted_bytes", seen.moved.demoted_bytes},
      {"cpu_seconds",
       seen.used.trigger + seen.used.promotion + seen.used.demotion + seen.used.watermark},
  };
}

void sinlk::visit_once(placed_tree& tree, use_counts counts) { workers_->visit_once(tree, counts); }

void sinlk::look(placed_tree& tree, std::uint64_t now_ns, std::uint64_t leaves) {
  workers_->look_once(tree, now_ns, leaves);
}

extern const placement_kind kSinlk;
constinit const placement_kind kSinlk = {
    .name = "sinlk",
    .help = "keep the most used nodes of the index in fast memory",
    .make = [](const fast_size& fast) -> std::unique_ptr<node_placement> {
      return std::make_unique<sinlk>(sinlk_options{.fast = fast});
    }};

}  // namespace isotherm::placement
