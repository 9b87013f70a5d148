// The migration protocol's epochs: INACTIVE -> PREPARE -> ACTIVE -> INACTIVE (OBASE 4.5).
// One collector at a time drives them.
#pragma once

#include <cstdint>

#include "sync/slots.hpp"

namespace isotherm::sync {

/// Advances the epoch without changing the state, and returns the new epoch. Membarrier included:
/// when it returns, scopes that opened before are visible in their slots.
std::uint64_t advance_epoch() noexcept;

/// How long to wait for scopes: a thread that never leaves its own delays only the collector.
struct patience {
  patience(std::uint64_t us, const base::atomic<bool>* end = nullptr) noexcept
      : timeout_us(us), stop(end) {}
  std::uint64_t timeout_us;
  const base::atomic<bool>* stop;  ///< ends the wait soon once it is true; null: nothing does
};

/// Waits until every scope that is open now has closed. False when that outlasts `limit`. Must not
/// be called inside a scope. The state of the migration protocol does not change.
bool wait_for_open_scopes(patience limit) noexcept;

/// INACTIVE -> PREPARE -> ACTIVE: from here on scopes that open are tracking; returns true once
/// every open scope is tracking. If that outlasts `limit`, goes back to INACTIVE and returns false.
bool begin_migration_epoch(patience limit) noexcept;

/// ACTIVE -> INACTIVE. Scopes that are open keep tracking until they close.
void end_migration_epoch() noexcept;

migration_state current_state() noexcept;

/// True from before the collector waits for the scopes that are open until its last move of the
/// batch is done, whatever the protocol. If a scope reads false, no object that it looks at
/// afterwards moves before it closes: a collector that starts later waits for it. guide::peek()
/// relies on this.
bool moves_may_happen() noexcept;

/// Raises moves_may_happen() for its life. For the collector, around begin and end of a batch.
class moving_guard {
 public:
  moving_guard() noexcept;
  ~moving_guard();
  moving_guard(const moving_guard&) = delete;
  moving_guard& operator=(const moving_guard&) = delete;
};

/// For a fork child, which has no collector: forgets the migration that was under way.
void forget_migration() noexcept;

/// Sets the function that leaving a tracking scope calls for each guide slot it counted. Called
/// once, by the guide layer.
void set_count_release(count_release release) noexcept;

/// Leaves the outermost scope of a tracking thread: uncounts what it counted. Cold.
void leave_tracking(thread_slot& slot) noexcept;

enum class noted : std::uint8_t { added, known, no_memory };

/// Puts `guide_slot` among those that the open scope of `mine`, the calling thread's slot, gives
/// back when it closes.
noted note_counted(thread_slot& mine, void* guide_slot) noexcept;
void forget_counted(thread_slot& mine, void* guide_slot) noexcept;

/// Takes `guide_slot` away from the open scopes of all threads, and waits for those that are
/// closing: when it returns no scope will touch it. Goes over all threads.
void forget_counted(void* guide_slot) noexcept;

}  // namespace isotherm::sync
