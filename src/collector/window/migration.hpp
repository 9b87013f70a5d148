// Moves the candidates of a window, list by list and batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "collector/policy/write_cost.hpp"
#include "collector/protocol/protocol.hpp"
#include "collector/scan/candidates.hpp"
#include "collector/statistics.hpp"
#include "heap/cold/batch_reads.hpp"

namespace isotherm::collector {

struct migration_limits {
  /// A batch ends with the object that reaches it, each counted with kMoveCostBytes more.
  std::uint64_t batch_bytes;
  sync::patience epoch;  ///< for the scopes that an epoch has to wait for
  /// Budget of writes to COLD, owned by the collector; null: no limit.
  write_allowance* cold_writes = nullptr;
};

/// Decides, under the hazard, whether a candidate still wants to move, and moves it.
class mover final : public guides::slot_visitor {
 public:
  /// `reads` has the bytes of the objects that are out; `cold_writes` as of migration_limits.
  mover(migration_protocol& protocol, const heap::batch_reads& reads, write_allowance* cold_writes,
        window_statistics& statistics)
      : protocol_(protocol), reads_(reads), cold_writes_(cold_writes), statistics_(statistics) {}

  void aim(heap::place target) noexcept { target_ = target; }
  /// A full disk refuses the next million objects as well, at a system call each.
  bool refuses(heap::place target) const noexcept {
    return target.where == heap::kind::cold && cold_is_full_;
  }
  guides::verdict visit(guides::slot_word& slot) override;

  /// NEW's objects that were to be demoted but have been used since the scan, and those that were
  /// used while they were moved within HOT; since the last call.
  std::vector<candidate> take_used_again() noexcept { return std::exchange(used_again_, {}); }

 private:
  move_result attempt(guides::slot_word& slot, guides::word seen, std::size_t& bytes);
  void count(heap::kind from, move_result result, std::size_t bytes) noexcept;

  migration_protocol& protocol_;
  const heap::batch_reads& reads_;
  write_allowance* const cold_writes_;
  window_statistics& statistics_;
  heap::place target_ = heap::kind::hot;
  bool cold_is_full_ = false;
  std::vector<candidate> used_again_;
};

/// The moves of one window, or of the work between two. For the collecting thread.
///
///   for (begin_list(list); move_batch();) { look after memory, rest }
///   if (has_ended()) no more moves in this window
class migration {
 public:
  /// Adds to the counters of `statistics`; `stop` is asked before each batch.
  migration(migration_protocol& protocol, const migration_limits& limits,
            std::function<bool()> stop, window_statistics& statistics)
      : protocol_(protocol),
        limits_(limits),
        stop_(std::move(stop)),
        statistics_(statistics),
        mover_(protocol, reads_, limits.cold_writes, statistics) {}

  /// Begins a list to move, which must live until move_batch() is false. An object that was to
  /// leave NEW for COLD but has been used since the scan goes to HOT (it counts as vetoed and as
  /// promoted): left where they are, a few would keep every extent of NEW. An object that is used
  /// while it moves within HOT is tried once more, for the same reason, in a batch that is over
  /// sooner.
  void begin_list(std::span<const candidate> list) noexcept;
  /// Moves the next batch; false: the list is done, or moving has ended. An epoch that can't begin
  /// in time is tried again; several in a row (each counted) end the work of this window.
  bool move_batch();
  /// Returns the bytes of the last batch, and kMoveCostBytes for each object.
  std::uint64_t batch_cost() const noexcept { return batch_cost_; }
  /// Whether no more is moved: `stop` said so, or no epoch could begin.
  bool has_ended() const noexcept { return has_ended_; }

 private:
  bool has_more();
  void read(std::span<const candidate> batch);
  bool run_epoch(std::span<const candidate> batch);

  migration_protocol& protocol_;
  const migration_limits limits_;
  const std::function<bool()> stop_;
  window_statistics& statistics_;
  heap::batch_reads reads_;  // of one batch
  mover mover_;
  std::span<const candidate> left_;    // of the list
  std::vector<candidate> used_again_;  // the list's second part
  bool is_second_part_ = false;
  std::uint64_t batch_cost_ = 0;
  unsigned abandoned_in_a_row_ = 0;
  bool has_ended_ = false;
};

}  // namespace isotherm::collector
