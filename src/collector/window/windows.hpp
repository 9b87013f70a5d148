// The windows of a collector, one after the other, and the phases of each.
//
//   run()           begin         options, protocol and policy of the window
//                   age           which objects were used; words are aged; the policy weighs
//                   migrate       what lies in the wrong heap moves, sparse extents are emptied
//                   free_retired  what threads have retired is freed
//                   page_out      COLD is asked to leave
//                   finish        the next window's outlook, and statistics
//   maintain()    between two windows: DRAM is looked after
//
// A phase gets its window, which holds memory as observed last; refresh_room() observes it anew and
// sets the limits that follow. Between two batches of moves DRAM is relieved (relieve()): what went
// to COLD leaves it. The writes go on beside the next moves, and are waited for when a window, or
// an eviction between two, is over.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collector/control.hpp"
#include "collector/memory/early_end.hpp"
#include "collector/memory/memory_room.hpp"
#include "collector/memory/memory_watch.hpp"
#include "collector/page_uses.hpp"
#include "collector/policy/policy.hpp"
#include "collector/policy/unusual_misses.hpp"
#include "collector/policy/write_cost.hpp"
#include "collector/protocol/protocol.hpp"
#include "collector/scan/choice.hpp"
#include "collector/scan/hot_order.hpp"
#include "collector/scan/newborn_queue.hpp"
#include "collector/scan/touched_pages.hpp"
#include "collector/window/migration.hpp"
#include "collector/window/window.hpp"
#include "heap/upkeep.hpp"

namespace isotherm::collector {

/// One thread of the process at a time runs windows, or looks after memory, of any collector
/// (SODA's hazard is one word): run(), maintain() and objects_in() lock each other out.
class windows {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// All must outlive it.
  windows(control& told, memory_watch& memory) noexcept : control_(told), memory_(memory) {}

  /// Runs a window in the calling thread, which is outside of every scope.
  window_statistics run();
  /// Frees what is due, observes memory and sets its limits; the oldest objects leave when writers
  /// need room. True when the window that began at `began` should end now:
  /// memory is short all the same, or too much misses. Does nothing while a window runs. Some times
  /// a second.
  bool maintain(time_point began, const options& chosen);
  /// Returns whether maintain() should be called again at once. For the thread that calls it.
  bool is_amid_eviction() const noexcept { return is_amid_eviction_; }
  /// The next window's time begins now.
  void begin_time();
  /// From now on maintain() and run() may rest: a thread of the collector's own calls them.
  void set_paced(bool is_paced) noexcept { is_paced_.store_relaxed(is_paced); }

  /// The functions of object_collector of these names.
  std::shared_ptr<const page_uses> last_page_uses() { return watch_.look(); }
  std::optional<std::vector<seen_object>> objects_in(const heap::range& where);

 private:
  window begin();
  void choose_ways(const options& chosen);
  void age(window& now);
  void weigh(window& now);
  void migrate(window& now);
  void free_retired(window& now);
  void page_out(window& now);
  window_statistics finish(window& now);

  // The steps of migrate().
  migration migration_of(const window& now);
  choice_limits limits_of_choice(const window& now) const;
  enum class to_cold : bool { no, yes };
  bool move(window& now, migration& moves, std::span<const candidate> list, to_cold leaves);
  bool move_part(window& now, migration& moves, const source_parts& parts, std::uint64_t part);
  bool tidy_hot(window& now, migration& moves, const source_parts& parts, std::uint64_t part);
  using search = void (*)(const policy&, const heap::sparse_extents&, guides::progress&,
                          std::vector<candidate>&);
  bool empty(window& now, migration& moves, const std::vector<heap::sparse_extents>& groups,
             search find);

  // Between pieces of work.
  void refresh_room(window& now);
  void relieve(window& now, std::uint64_t left_for_cold);
  void rest(window& now);
  bool make_room(window& now);
  bool evict(window& now);
  void page_out_piece(window& now, std::uint64_t bytes);
  void finish_page_out(window& now);
  void note_page_out(window& now, heap::page_out_report report);

  control& control_;
  memory_watch& memory_;
  base::atomic<bool> is_paced_{false};  // relaxed: it publishes nothing

  // The state that a window leaves to the next.
  std::unique_ptr<migration_protocol> protocol_;
  std::unique_ptr<policy> decides_;
  std::uint64_t windows_ = 0, last_end_ns_ = os::monotonic_ns();
  touched_pages pages_;
  hot_order order_;
  newborn_queue newborns_;
  bool is_amid_eviction_ = false;
  std::uint64_t disk_asked_again_ns_ = 0;  // by an eviction, not before then
  page_watch watch_;
  write_allowance cold_writes_;
  unusual_misses unusual_;
  early_end early_;
  memory_room room_{};  // as observed last
  // Bytes of extents over those of objects, of NEW and HOT, after the last window. 0: not known.
  double spread_ = 0;
  window_statistics counted_;  // of the window that is to end next
  std::vector<candidate> candidates_;
};

}  // namespace isotherm::collector
