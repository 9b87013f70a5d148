#include "collector/window/windows.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "collector/memory/return_gate.hpp"
#include "collector/scan/ageing.hpp"
#include "collector/scan/search.hpp"
#include "collector/window/compaction.hpp"
#include "guide/guide.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/upkeep.hpp"
#include "os/memory/pressure.hpp"
#include "sync/retire.hpp"

namespace isotherm::collector {

namespace {

/// At each look at memory, and between two rests; a stop waits for so much reclamation.
constexpr std::uint64_t kReclaimedAtOnceUs = 10'000;
/// An eviction takes so long at a time; threads that wait for room begin the next at once.
constexpr std::uint64_t kEvictedAtOnceNs = 20'000'000;
/// A disk that takes nothing is not asked again by an eviction for so long.
constexpr std::uint64_t kDiskRestNs = 1'000'000'000;
/// Bytes that are new in COLD before they are asked to leave DRAM: some writes of extents.
constexpr std::uint64_t kPagedOutTogether = std::uint64_t{4} << 20;
/// The most parts of a window's moves: each part takes a pass over the guides.
constexpr std::uint64_t kMostParts = 64;

std::timed_mutex one_at_a_time;

/// Returns whether objects that leave NEW for COLD leave DRAM.
bool may_evict(const options& chosen) noexcept {
  return chosen.manage == mode::on && chosen.policy == policy_name::budget &&
         chosen.hint == heap::hint::pageout;
}

/// Puts the objects that are read from COLD before those that are written to it, for a device whose
/// reads and writes interfere.
void read_first(std::vector<candidate>& list) {
  const auto is_write = [](const candidate& each) { return each.target.where == heap::kind::cold; };
  std::vector<candidate> writes;
  std::ranges::copy_if(list, std::back_inserter(writes), is_write);
  std::erase_if(list, is_write);
  list.insert(list.end(), writes.begin(), writes.end());
}

double spread_of(const heap::usage& warm, double before) {
  if (warm.bytes == 0) return before;
  return static_cast<double>(warm.extent_bytes) / static_cast<double>(warm.bytes);
}

}  // namespace

window_statistics windows::run() {
  const std::lock_guard alone(one_at_a_time);
  window now = begin();
  age(now);
  weigh(now);
  migrate(now);
  free_retired(now);
  page_out(now);
  return finish(now);
}

bool windows::maintain(time_point began, const options& chosen) {
  is_amid_eviction_ = false;
  heap::give_back_emptied_cold();
  // Also the memory of extents that were written when some scope was open.
  sync::retired_blocks() > 0 ? sync::reclaim_ready(kReclaimedAtOnceUs)
                             : sync::reclaim_aside(kReclaimedAtOnceUs);
  const std::unique_lock alone(one_at_a_time, 2 * kSearchPiece);
  if (!alone) return false;  // a window that was asked for looks by itself
  const cpu_timer cpu(counted_.collector_cpu_seconds);
  window between{chosen, room_, counted_};
  refresh_room(between);
  const bool manages = chosen.manage == mode::on && chosen.policy == policy_name::budget;
  const bool has_more = manages && make_room(between);
  is_amid_eviction_ = has_more && room_.is_low();
  if (!is_amid_eviction_) finish_page_out(between);
  if (!manages) return false;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  return (!has_more && early_.is_due(room_, elapsed)) ||
         unusual_.end_window_now(gate().asked(), elapsed.count() / chosen.window_seconds);
}

void windows::begin_time() {
  const std::lock_guard alone(one_at_a_time);
  last_end_ns_ = os::monotonic_ns();
}

std::optional<std::vector<seen_object>> windows::objects_in(const heap::range& where) {
  std::unique_lock alone(one_at_a_time, std::try_to_lock);
  if (!alone || !decides_) return std::nullopt;
  return find_objects(*decides_, where, alone, windows_);
}

window windows::begin() {
  window now{control_.chosen(), room_, counted_};
  ISO_CHECK(check(now.chosen), "the options of a collector are in range");
  choose_ways(now.chosen);
  cold_writes_.begin_window(now.chosen.cold_device, now.chosen.window_seconds);
  unusual_.end_window(gate().asked());
  now.seen.window = ++windows_;
  now.seen.window_seconds = static_cast<double>(now.begin_ns - last_end_ns_) / 1e9;
  last_end_ns_ = now.begin_ns;
  pages_.clear();  // of a window that ended early, for want of memory
  pages_.note_in(watch_.begin_window());
  if (pages_.uses()) pages_.uses()->begin(windows_);
  return now;
}

/// Chooses the protocol and the policy that were asked for. Bits that words hold for others mean
/// nothing to these, and are cleared; but not the counts of scopes that are still open, and while
/// there are any the words go on being used for counts.
void windows::choose_ways(const options& chosen) {
  const bool is_new_policy = !decides_ || decides_->name() != chosen.policy;
  auto next = *make_protocol(chosen.protocol);
  const guides::word_use wanted = next->use_of_words();
  const bool ends_counts = guides::are_counted() && wanted == guides::word_use::history;
  const sync::patience patience(chosen.epoch_timeout_us, &control_.stopping());
  if (ends_counts && !sync::wait_for_open_scopes(patience)) {
    if (protocol_) return;  // both stay as they were until no scope counts
    decides_ = make_policy(policy_name::published);
    protocol_ = *make_protocol("counts");
    return;
  }
  if (is_new_policy) decides_ = make_policy(chosen.policy);
  if (!protocol_ || protocol_->name() != chosen.protocol) protocol_ = std::move(next);
  const bool says_nothing = is_new_policy || wanted == guides::word_use::counts;
  if (ends_counts || (!guides::are_counted() && says_nothing)) clear_histories();
  guides::use_words_for(wanted);
}

/// Counts the window's uses and ages the guides' words.
void windows::age(window& now) {
  const std::uint64_t begin_ns = os::monotonic_ns();
  const double moved_before = now.seen.move_seconds;
  // The last epoch's tracking scopes must be gone before counts that stayed behind are cleared.
  const sync::patience patience(now.chosen.epoch_timeout_us, &control_.stopping());
  const bool may_clear = guides::are_counted() && sync::wait_for_open_scopes(patience);
  const returned came_back = gate().take_returned();
  count_returned(came_back, now.seen);
  decides_->note_returned(came_back);
  decides_->begin_ageing(now.chosen);
  order_.begin();
  newborns_.end_window();
  ageing visitor(*decides_, may_clear ? counts_left::cleared : counts_left::kept, pages_, order_,
                 now.seen);
  for (guides::progress so_far; !so_far.is_over;) {
    visitor.begin_piece();
    now.seen.scanned_guides += guides::visit_due(visitor, so_far);
    make_room(now);
  }
  measure(pages_, now.seen);
  now.seen.scan_seconds += seconds_since(begin_ns) - (now.seen.move_seconds - moved_before);
}

/// Lets the policy decide, by all uses and by the memory there is.
void windows::weigh(window& now) {
  const std::uint64_t begin_ns = os::monotonic_ns();
  refresh_room(now);
  now.seen.resident_bytes = now.room.dram_bytes;
  now.seen.memory_target_bytes = now.room.target_bytes;
  const heap::usage warm = warm_memory();
  decides_->weigh(
      now.chosen,
      {.target_bytes = now.chosen.hint == heap::hint::pageout ? now.room.target_bytes : 0,
       .dram_bytes = now.room.dram_bytes,
       .warm_bytes = warm.extent_bytes,
       .warm_object_bytes = warm.bytes,
       .cold_objects = heap::usage_of(heap::kind::cold, heap::residency::left_out).objects,
       .cold_bytes = heap::cold_file().memory_bytes,
       .spread = spread_},
      now.seen);
  gate().write(decides_->returns());
  guides::set_return_policy(&gate());
  now.seen.scan_seconds += seconds_since(begin_ns);
}

/// Moves, part by part of the heaps, what is not where it should be.
void windows::migrate(window& now) {
  if (now.chosen.manage != mode::on) return;
  migration moves = migration_of(now);
  const std::uint64_t together = moved_together(now.seen.memory_target_bytes);
  // While writers wait for room, the oldest of NEW leave first (evict()), and the others need not
  // be copied to HOT before they do.
  using newborns = source_parts::newborns;
  const newborns of_new =
      early_.is_needed(now.room) && may_evict(now.chosen) ? newborns::wait : newborns::move;
  const source_parts parts(std::min(decides_->expected_bytes() / together, kMostParts), of_new);
  const std::uint64_t begin_ns = os::monotonic_ns();
  const double scanned_before = now.seen.scan_seconds, moved_before = now.seen.move_seconds;
  bool may_move = true;
  for (std::uint64_t part = 0; part < parts.count() && may_move; ++part) {
    may_move = move_part(now, moves, parts, part);
    // Objects that are used all the time have not moved, and would keep whole extents.
    heap::release_dead_pages(heap::kind::newborn);
    refresh_room(now);
    may_move = may_move && tidy_hot(now, moves, parts, part);
  }
  // Only now: what was just promoted must not be found in COLD and sent back there.
  if (may_move) empty(now, moves, sparse_cold(), find_in_order);
  now.seen.move_seconds =
      moved_before + seconds_since(begin_ns) - (now.seen.scan_seconds - scanned_before);
}

migration windows::migration_of(const window& now) {
  const sync::patience patience(now.chosen.epoch_timeout_us, &control_.stopping());
  // Each batch waits for the scopes that are open, and a slowed thread may hold up a batch.
  const std::uint64_t batch_bytes =
      now.room.is_short() ? std::max(now.chosen.batch_bytes, moved_together(now.room.target_bytes))
                          : now.chosen.batch_bytes;
  return {*protocol_,
          {batch_bytes, patience, &cold_writes_},
          [this] { return control_.is_stopping(); },
          now.seen};
}

/// Moves the objects of one part that belong elsewhere. False: moving has ended for this window.
bool windows::move_part(window& now, migration& moves, const source_parts& parts,
                        std::uint64_t part) {
  for (guides::progress so_far; !so_far.is_over && !control_.is_stopping();) {
    make_room(now);
    const std::uint64_t begin_ns = os::monotonic_ns();
    now.seen.held_back +=
        choose(*decides_, parts, part, limits_of_choice(now), so_far, candidates_);
    if (now.chosen.cold_device && keeps_apart(*now.chosen.cold_device)) read_first(candidates_);
    now.seen.scan_seconds += seconds_since(begin_ns);
    if (!move(now, moves, candidates_, to_cold::yes)) return false;
    rest(now);
  }
  return true;
}

/// Limits what moves to and from COLD by the profile of its device. While DRAM is held to a target,
/// objects leave when they must, and what comes back makes others leave: as much as may be written.
/// Otherwise they leave when they stay for long enough to pay for their write.
choice_limits windows::limits_of_choice(const window& now) const {
  choice_limits limits{.promotable_bytes = now.room.promotable_bytes()};
  if (!now.chosen.cold_device) return limits;
  if (now.seen.memory_target_bytes > 0) {
    limits.promotable_bytes = std::min(limits.promotable_bytes, cold_writes_.left());
  } else {
    const std::uint64_t in_cold = heap::packing_of(heap::kind::cold).used_bytes;
    limits.demotable =
        rate_of_rest(paying_seconds(*now.chosen.cold_device, in_cold), now.chosen.window_seconds);
  }
  return limits;
}

/// Empties extents of HOT that are kept for little, or lie in the wrong band. False: moving has
/// ended for this window.
bool windows::tidy_hot(window& now, migration& moves, const source_parts& parts,
                       std::uint64_t part) {
  const std::uint64_t wanted = now.room.short_bytes();
  // Before what comes back from COLD, which is in the last part, and after it.
  if (part + 2 >= parts.count() || wanted > 0) {
    const hot_compaction asked{wanted, moved_together(now.seen.memory_target_bytes),
                               parts.end_of_hot(part)};
    if (!empty(now, moves, sparse_hot(asked), find_hot_compactions)) return false;
  }
  if (part + 1 < parts.count() || wanted > 0) return true;
  return empty(now, moves, order_.worst(now.seen.window_seconds), find_in_order);
}

/// Moves what lives in the extents, group by group, in passes over the guides. False: moving has
/// ended for this window.
bool windows::empty(window& now, migration& moves, const std::vector<heap::sparse_extents>& groups,
                    search find) {
  for (const heap::sparse_extents& group : groups) {
    const to_cold leaves = group.where() == heap::kind::cold ? to_cold::yes : to_cold::no;
    for (guides::progress so_far; !so_far.is_over && !control_.is_stopping();) {
      make_room(now);
      find(*decides_, group, so_far, candidates_);
      if (!move(now, moves, candidates_, leaves)) return false;
    }
  }
  return true;
}

/// Moves the listed objects batch by batch, and relieves DRAM after each. `leaves`: whether they
/// may go to COLD. False: moving has ended for this window.
bool windows::move(window& now, migration& moves, std::span<const candidate> list, to_cold leaves) {
  for (moves.begin_list(list); moves.move_batch();) {
    relieve(now, leaves == to_cold::yes ? moves.batch_cost() : 0);
    rest(now);
  }
  return !moves.has_ended();
}

/// While objects move, what they left goes back to the system, and what they took in COLD leaves
/// DRAM: a first demotion moves nearly everything, which must not be in memory twice.
void windows::relieve(window& now, std::uint64_t left_for_cold) {
  heap::trim();  // a hole that is kept for another object keeps its extent
  now.moved_since_page_out += left_for_cold;
  if (now.chosen.policy != policy_name::budget) return;
  refresh_room(now);
  if (now.moved_since_page_out < kPagedOutTogether) return;
  now.moved_since_page_out = 0;
  page_out_piece(now, kMovedTogether);
  refresh_room(now);
}

/// Evicts when memory is low, as evict(). Between two passes over guides, or pieces of one: writers
/// do not wait for the whole window.
bool windows::make_room(window& now) {
  refresh_room(now);
  const std::uint64_t now_ns = os::monotonic_ns();
  cold_writes_.grow(now_ns);
  const bool may_leave = now_ns >= disk_asked_again_ns_ && cold_writes_.is_left();
  return now.room.is_low() && may_leave && may_evict(now.chosen) && evict(now);
}

/// Makes room for writers: the oldest objects of NEW leave until there is enough, or for some
/// milliseconds. Returns whether NEW yields more.
bool windows::evict(window& now) {
  const bool is_queue = decides_ && decides_->name() == policy_name::budget &&
                        protocol_->use_of_words() == guides::word_use::history;
  if (!is_queue) return false;
  const std::uint64_t begin_ns = os::monotonic_ns(), end_ns = begin_ns + kEvictedAtOnceNs;
  const double moved_before = now.seen.move_seconds;
  const std::uint64_t promoted_before = now.seen.promoted.objects;
  const std::uint64_t demoted_before = now.seen.demoted.bytes;
  migration moves = migration_of(now);
  const auto may_go_on = [&] {
    return !now.room.is_enough() && !moves.has_ended() && cold_writes_.is_left() &&
           !control_.is_stopping() && os::monotonic_ns() < end_ns;
  };
  do {
    if (newborns_.is_over()) newborns_.begin(now.room.target_bytes / kWritersShare);
    while (!newborns_.is_over() && may_go_on()) {
      newborns_.list_leaving(*decides_, end_ns, candidates_);
      // Without rests: writers wait for it.
      for (moves.begin_list(candidates_); moves.move_batch();) relieve(now, moves.batch_cost());
    }
    page_out_piece(now, kMovedTogether);
    refresh_room(now);
  } while (newborns_.has_next() && may_go_on());
  now.seen.move_seconds = moved_before + seconds_since(begin_ns);
  // The window's end finds these objects in HOT, and not used.
  now.seen.accessed_objects += now.seen.promoted.objects - promoted_before;
  const bool has_yielded = now.seen.demoted.bytes > demoted_before;
  const bool may_yield = !moves.has_ended() && cold_writes_.is_left();
  return may_yield && (has_yielded || !newborns_.is_over());
}

/// Frees what the threads have retired until now, as far as it may be freed.
void windows::free_retired(window& now) {
  guides::free_empty_blocks();
  std::size_t left = sync::retired_blocks();
  for (std::size_t freed = 1; left > 0 && freed > 0 && !control_.is_stopping(); rest(now)) {
    freed = sync::reclaim_ready(kReclaimedAtOnceUs);
    left -= std::min(freed, left);
  }
}

/// Gives free memory back to the system and, where COLD may leave, asks it to.
void windows::page_out(window& now) {
  const outlook next =
      decides_->adapt(now.chosen, heap::packing_of(heap::kind::cold).used_bytes, now.seen);
  now.seen.cold_threshold = next.cold_threshold;
  now.seen.kept_rate = next.kept_rate;
  now.seen.rate_windows = next.rate_windows;
  if (now.chosen.manage != mode::on || control_.is_stopping()) return;
  const std::uint64_t begin_ns = os::monotonic_ns();
  heap::trim();
  page_out_piece(now, decides_->page_out_bytes(now.chosen, now.seen,
                                               os::memory_pressure_percent().value_or(0)));
  finish_page_out(now);
  now.seen.page_out_seconds += seconds_since(begin_ns);
}

/// Begins to page out; the writes go on beside the next moves.
void windows::page_out_piece(window& now, std::uint64_t bytes) {
  if (now.chosen.hint == heap::hint::none || bytes == 0) return;
  note_page_out(now, heap::begin_page_out(now.chosen.hint, bytes, [&] {
                  rest(now);
                  return control_.is_stopping();
                }));
}

/// Waits for the writes that are under way, until the collector is stopped.
void windows::finish_page_out(window& now) {
  heap::page_out_report report = heap::finish_page_out([this] { return control_.is_stopping(); });
  if (report.bytes_asked == 0 && report.problem.empty()) return;  // as a rule
  note_page_out(now, std::move(report));
  refresh_room(now);
}

void windows::note_page_out(window& now, heap::page_out_report report) {
  // While the disk takes nothing, what goes to COLD takes as much DRAM there.
  if (report.bytes_asked > 0) disk_asked_again_ns_ = 0;
  if (report.bytes_asked == 0 && !report.problem.empty()) {
    disk_asked_again_ns_ = os::monotonic_ns() + kDiskRestNs;
  }
  now.seen.hinted_bytes += report.bytes_asked;
  // The memory of what was written ends when the scopes that are open have closed.
  if (report.bytes_asked > 0) sync::reclaim_ready(kReclaimedAtOnceUs);
  if (!report.problem.empty()) now.seen.page_out_problem = std::move(report.problem);
}

/// Notes what the next window goes by; completes the statistics and publishes them.
window_statistics windows::finish(window& now) {
  spread_ = spread_of(warm_memory(), spread_);
  refresh_room(now);
  early_.end_window(now.room, now.seen.demoted.bytes, length_of(now.chosen));
  window_statistics seen = std::exchange(now.seen, {});
  for (const heap::kind where : heap::kKinds) {
    seen.heaps[where] = heap::usage_of(where, heap::residency::left_out);
  }
  watch_.end_window(pages_.take_uses());
  pages_.clear();
  seen.collector_cpu_seconds += static_cast<double>(os::thread_cpu_ns() - now.begin_cpu_ns) / 1e9;
  return control_.publish(std::move(seen));
}

/// Observes memory, and sets the limits that follow.
void windows::refresh_room(window& now) {
  const auto seen = memory_watch::observe(now.chosen);
  if (!seen) return;  // the last observation stands
  now.room = *seen;
  memory_.apply(now.room);
}

/// Gives back what was emptied. Leaves the processor to others in proportion to the work since the
/// last rest, but not while memory is short or the next window would be late.
void windows::rest(window& now) {
  heap::give_back_emptied_cold();
  if (!now.turns.is_turn_over()) return;
  refresh_room(now);
  const bool is_short = now.room.is_low() && now.chosen.policy == policy_name::budget;
  const bool is_late = seconds_since(now.begin_ns) > now.chosen.window_seconds / 2;
  if (!is_short && !is_late && is_paced_.load_relaxed()) control_.rest(now.turns.due_rest());
  now.turns.begin_turn();
}

}  // namespace isotherm::collector
