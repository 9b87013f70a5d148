#include "collector/window/windows.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "collector/memory/return_gate.hpp"
#include "collector/scan/ageing.hpp"
#include "collector/scan/search.hpp"
#include "collector/window/compaction.hpp"
#include "guide/guide.hpp"
#include "heap/upkeep.hpp"
#include "os/memory/pressure.hpp"
#include "sync/retire.hpp"

namespace isotherm::collector {

namespace {

/// At each look at memory, and between two rests; a stop waits for so much reclamation.
constexpr std::uint64_t kReclaimedAtOnceUs = 10'000;
/// Each part is a pass over the guides, so that they are not too many.
constexpr std::uint64_t kMostParts = 64;

std::timed_mutex one_at_a_time;

std::uint64_t newborn_bytes() {
  return heap::usage_of(heap::kind::newborn, heap::residency::left_out).extent_bytes;
}

std::chrono::nanoseconds length_of(const options& chosen) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(chosen.window_seconds * 1e9));
}

warm_sizes sizes_of(const heap::usage& warm, const warm_sizes& before) {
  const auto extents = static_cast<double>(warm.extent_bytes);
  return {warm.objects > 0 ? extents / static_cast<double>(warm.objects) : before.bytes_each,
          warm.bytes > 0 ? extents / static_cast<double>(warm.bytes) : before.spread};
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

bool windows::look_after(time_point began, const options& chosen) {
  heap::give_back_emptied_cold();
  sync::reclaim_aside(kReclaimedAtOnceUs);
  const std::unique_lock alone(one_at_a_time, 2 * kSearchPiece);
  if (!alone) return false;  // a window that somebody asked for looks by itself
  window between{chosen, room_, counted_};
  look(between);
  if (chosen.manage != mode::on || chosen.policy != policy_name::budget) return false;
  if (chosen.hint != heap::hint::none && has_many_cold_pages(room_)) {
    return_used(between);
    const std::uint64_t begin_ns = os::monotonic_ns();
    page_out_piece(between, chosen.page_out_bytes_per_window);
    counted_.page_out_seconds += seconds_since(begin_ns);
    look(between);
    cold_.note_page_out(room_);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  return early_.is_due(room_, newborn_bytes(), elapsed) ||
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
  window now{told_.chosen(), room_, counted_};
  ISO_CHECK(check(now.chosen), "the options of a collector are in range");
  choose_ways(now.chosen);
  unusual_.end_window(gate().asked());
  now.seen.window = ++windows_;
  now.seen.window_seconds = static_cast<double>(now.begin_ns - last_end_ns_) / 1e9;
  last_end_ns_ = now.begin_ns;
  pages_.clear();  // of a window that ended early, for want of memory
  pages_.note_in(watch_.begin_window());
  if (pages_.uses()) pages_.uses()->begin(windows_);
  return now;
}

/// The protocol and the policy that were asked for. What the words hold for another policy or
/// protocol says nothing to these, and is cleared; but not the counts of scopes that are still
/// open, and while there are any the words go on being used for counts.
void windows::choose_ways(const options& chosen) {
  const bool is_new_policy = !decides_ || decides_->name() != chosen.policy;
  auto next = *make_protocol(chosen.protocol);
  const guides::word_use wanted = next->use_of_words();
  const bool ends_counts = guides::are_counted() && wanted == guides::word_use::history;
  const sync::patience patience(chosen.epoch_timeout_us, &told_.stopping());
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

/// What the window's uses make of the guides' words.
void windows::age(window& now) {
  const std::uint64_t begin_ns = os::monotonic_ns();
  // The last epoch's tracking scopes must be gone before counts that stayed behind are cleared.
  const sync::patience patience(now.chosen.epoch_timeout_us, &told_.stopping());
  const bool may_clear = guides::are_counted() && sync::wait_for_open_scopes(patience);
  const returned came_back = gate().take_returned();
  count_returned(came_back, now.seen);
  decides_->note_returned(came_back);
  decides_->begin_ageing(now.chosen);
  order_.begin();
  ageing visitor(*decides_, may_clear ? counts_left::cleared : counts_left::kept, pages_, order_,
                 now.seen);
  now.seen.scanned_guides += guides::visit_due(visitor);
  measure(pages_, now.seen);
  now.seen.scan_seconds += seconds_since(begin_ns);
}

/// Lets the policy decide, by all uses and by the memory there is.
void windows::weigh(window& now) {
  look(now);
  now.seen.resident_bytes = now.room.dram_bytes;
  now.seen.memory_target_bytes = now.room.target_bytes;
  const heap::usage warm = warm_memory();
  decides_->weigh(
      now.chosen,
      {.target_bytes = now.chosen.hint == heap::hint::pageout ? now.room.target_bytes : 0,
       .dram_bytes = now.room.dram_bytes,
       .file_bytes = cold_.in_dram(now.room),
       .cold_room_bytes = std::min(cold_limit_bytes(now.room), cold_.expect()),
       .warm_bytes = warm.extent_bytes,
       .warm_object_bytes = warm.bytes,
       .cold_objects = heap::usage_of(heap::kind::cold, heap::residency::left_out).objects,
       .spread = warm_.spread},
      now.seen);
  gate().write(decides_->returns());
  guides::set_return_policy(&gate());
}

/// Moves, part by part of the heaps, what is not where it should be.
void windows::migrate(window& now) {
  if (now.chosen.manage != mode::on) return;
  migration moves = migration_of(now);
  const std::uint64_t together = moved_together(now.seen.memory_target_bytes);
  const source_parts parts(std::min(decides_->expected_bytes() / together, kMostParts));
  const std::uint64_t begin_ns = os::monotonic_ns();
  const double scanned_before = now.seen.scan_seconds, moved_before = now.seen.move_seconds;
  bool may_move = true;
  for (std::uint64_t part = 0; part < parts.count() && may_move; ++part) {
    may_move = move_part(now, moves, parts, part) && tidy_hot(now, moves, parts, part);
  }
  // Only now: what was just promoted must not be found in COLD and sent back there.
  if (may_move) {
    empty(now, moves, sparse_cold(compaction_bytes(now.chosen, now.seen, warm_.bytes_each)),
          find_in_order);
  }
  now.seen.move_seconds =
      moved_before + seconds_since(begin_ns) - (now.seen.scan_seconds - scanned_before);
}

migration windows::migration_of(const window& now) const {
  const sync::patience patience(now.chosen.epoch_timeout_us, &told_.stopping());
  // Each batch waits for the scopes that are open, and a thread that is slowed may hold one up.
  const std::uint64_t batch_bytes =
      now.room.is_short() ? std::max(now.chosen.batch_bytes, moved_together(now.room.target_bytes))
                          : now.chosen.batch_bytes;
  return {*protocol_, {batch_bytes, patience}, [this] { return told_.is_stopping(); }, now.seen};
}

/// Moves the objects of one part that belong elsewhere. False: moving has ended for this window.
bool windows::move_part(window& now, migration& moves, const source_parts& parts,
                        std::uint64_t part) {
  for (guides::progress so_far; !so_far.is_over && !told_.is_stopping();) {
    const std::uint64_t begin_ns = os::monotonic_ns();
    look(now);
    choose(*decides_, parts, part, now.room.promotable_bytes(), so_far, candidates_);
    now.seen.scan_seconds += seconds_since(begin_ns);
    if (!move(now, moves, candidates_, to_cold::yes)) return false;
    rest(now);
  }
  return true;
}

/// Gives back, or empties, extents of NEW and HOT that are kept for little. False: moving has ended
/// for this window.
bool windows::tidy_hot(window& now, migration& moves, const source_parts& parts,
                       std::uint64_t part) {
  // What is used all the time has not moved, and would keep whole extents.
  heap::release_dead_pages(heap::kind::newborn);
  look(now);
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
    for (guides::progress so_far; !so_far.is_over && !told_.is_stopping();) {
      find(*decides_, group, so_far, candidates_);
      if (!move(now, moves, candidates_, leaves)) return false;
    }
  }
  return true;
}

/// Moves the listed objects batch by batch, and relieves DRAM after each. `leaves`: whether they
/// may go to COLD. False: moving has ended for this window.
bool windows::move(window& now, migration& moves, std::span<const candidate> list, to_cold leaves) {
  for (moves.take(list); moves.move_batch();) {
    relieve(now, leaves == to_cold::yes ? moves.batch_cost() : 0);
    rest(now);
  }
  return !moves.has_ended();
}

/// While objects move, what they left goes back to the system, and what they took or read in COLD
/// leaves DRAM: a first demotion moves nearly everything, which must not be in memory twice.
void windows::relieve(window& now, std::uint64_t left_for_cold) {
  heap::trim();  // a hole that is kept for another object keeps its extent
  look(now);
  now.moved_since_page_out += left_for_cold;
  if (now.chosen.policy != policy_name::budget) return;
  const bool is_many = has_many_cold_pages(now.room);
  if (is_many) return_used(now);
  if (!is_many && now.moved_since_page_out < moved_together(now.seen.memory_target_bytes)) return;
  now.moved_since_page_out = 0;
  page_out_piece(now, kMovedTogether);
  look(now);
  if (is_many) cold_.note_page_out(now.room);
}

/// What is used in COLD, and often enough, is in HOT before its page leaves again.
void windows::return_used(window& now) {
  if (!decides_ || !protocol_) return;
  const std::uint64_t begin_ns = os::monotonic_ns();
  const std::uint64_t promoted_before = now.seen.promoted.objects;
  migration moves = migration_of(now);
  std::vector<candidate> returning;
  for (guides::progress so_far; !so_far.is_over && !moves.has_ended() && !told_.is_stopping();) {
    choose_returning(*decides_, now.room.promotable_bytes(), so_far, returning);
    for (moves.take(returning); moves.move_batch();) look(now);
  }
  now.seen.move_seconds += seconds_since(begin_ns);
  // The window's end finds them in HOT, and not used.
  const std::uint64_t returned = now.seen.promoted.objects - promoted_before;
  now.seen.accessed_objects += returned;
  now.seen.accessed_cold_objects += returned;
}

/// More pages of COLD are in DRAM than may be between two page-outs.
bool windows::has_many_cold_pages(const memory_room& room) const {
  return cold_.in_dram(room) > cold_limit_bytes(room);
}

/// Frees what the threads have retired until now, as far as it may be freed.
void windows::free_retired(window& now) {
  guides::free_empty_blocks();
  std::size_t left = sync::retired_blocks();
  for (std::size_t freed = 1; left > 0 && freed > 0 && !told_.is_stopping(); rest(now)) {
    freed = sync::reclaim_ready(kReclaimedAtOnceUs);
    left -= std::min(freed, left);
  }
}

/// Gives free memory back to the system and, where COLD may leave, hints its pages.
void windows::page_out(window& now) {
  const outlook next =
      decides_->adapt(now.chosen, heap::packing_of(heap::kind::cold).used_bytes, now.seen);
  now.seen.cold_threshold = next.cold_threshold;
  now.seen.kept_rate = next.kept_rate;
  now.seen.rate_windows = next.rate_windows;
  if (now.chosen.manage != mode::on || told_.is_stopping()) return;
  const std::uint64_t begin_ns = os::monotonic_ns();
  heap::trim();
  page_out_piece(now, decides_->page_out_bytes(now.chosen, now.seen,
                                               os::memory_pressure_percent().value_or(0)));
  now.seen.page_out_seconds += seconds_since(begin_ns);
}

void windows::page_out_piece(window& now, std::uint64_t bytes) {
  if (now.chosen.hint == heap::hint::none || bytes == 0) return;
  heap::page_out_report report = heap::page_out_cold(now.chosen.hint, bytes, [&] {
    rest(now);
    return told_.is_stopping();
  });
  now.seen.hinted_bytes += report.bytes_asked;
  if (!report.problem.empty()) now.seen.page_out_problem = std::move(report.problem);
}

/// Notes what the next window goes by; completes the statistics and publishes them.
window_statistics windows::finish(window& now) {
  warm_ = sizes_of(warm_memory(), warm_);
  look(now);
  cold_.begin_window(now.room);
  early_.end_window(now.room, newborn_bytes(), now.seen.demoted.bytes, length_of(now.chosen));
  window_statistics seen = std::exchange(now.seen, {});
  for (const heap::kind where : heap::kKinds) {
    seen.heaps[where] = heap::usage_of(where, heap::residency::left_out);
  }
  watch_.end_window(pages_.take_uses());
  pages_.clear();
  seen.collector_cpu_seconds = static_cast<double>(os::thread_cpu_ns() - now.begin_cpu_ns) / 1e9;
  return told_.publish(std::move(seen));
}

/// Observes memory, and sets the limits that follow.
void windows::look(window& now) {
  const auto seen = memory_watch::observe(now.chosen);
  if (!seen) return;  // the last observation stands
  now.room = *seen;
  memory_.apply(now.room);
  cold_.note(now.room);
}

/// Gives back what was emptied. Leaves the processor to others in proportion to the work since the
/// last rest, but not while memory is short or the next window would be late.
void windows::rest(window& now) {
  heap::give_back_emptied_cold();
  if (!now.turns.is_turn_over()) return;
  look(now);
  const bool is_short = now.room.is_short() && now.chosen.policy == policy_name::budget;
  const bool is_late = seconds_since(now.begin_ns) > now.chosen.window_seconds / 2;
  if (!is_short && !is_late && is_paced_.load_acquire()) told_.rest(now.turns.due_rest());
  now.turns.begin_turn();
}

}  // namespace isotherm::collector
