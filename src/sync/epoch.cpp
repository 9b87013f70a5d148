#include "sync/epoch.hpp"

#include <chrono>
#include <mutex>
#include <new>
#include <thread>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/membarrier.hpp"
#include "sync/scope.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::sync {

namespace {

base::atomic<count_release> release_count{nullptr};
base::apart<base::atomic<bool>> moves{};  // read by every peek, written around each batch of moves

/// Sets the state bits and adds `epochs` to the epoch; returns the new word. Reclaimers may advance
/// the epoch at the same time, hence the loop.
std::uint64_t change_state(migration_state state, std::uint64_t epochs) noexcept {
  std::uint64_t seen = facts.global_word.load_acquire();
  for (;;) {
    const std::uint64_t next =
        ((epoch_of(seen) + epochs) << kStateBits) | static_cast<std::uint64_t>(state);
    if (facts.global_word.compare_exchange_seq_cst(seen, next)) return next;
  }
}

/// Waits until every open scope carries `epoch` or a later one.
bool wait_until_all_carry(std::uint64_t epoch, patience limit) noexcept {
  ISO_ASSERT(!scope::is_open(), "waiting for scopes from inside a scope would wait for itself");
  const std::uint64_t began = os::monotonic_ns();
  const std::uint64_t deadline = os::deadline_ns(limit.timeout_us);
  const std::uint64_t first_nap = began + 1'000'000;  // scopes are short; a stuck one is not worth
                                                      // a processor
  for (unsigned round = 0; oldest_open_epoch(epoch) < epoch; ++round) {
    if (round < 64) {
      base::spin_pause();
      continue;
    }
    const std::uint64_t now = os::monotonic_ns();
    if (now > deadline || (limit.stop && limit.stop->load_acquire())) return false;
    if (now < first_nap) {
      std::this_thread::yield();  // the scope's thread may need this processor
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  return true;
}

}  // namespace

#if defined(ISOTHERM_TEST_HOOKS)
base::atomic<step_hook> between_steps{nullptr};
#endif

std::uint64_t advance_epoch() noexcept {
  const std::uint64_t before = facts.global_word.fetch_add_seq_cst(kEpochStep);
  os::membarrier();
  return epoch_of(before) + 1;
}

bool begin_migration_epoch(patience limit) noexcept {
  const std::uint64_t word = change_state(migration_state::prepare, 1);
  os::membarrier();
  if (!wait_until_all_carry(epoch_of(word), limit)) {
    change_state(migration_state::inactive, 0);
    return false;
  }
  change_state(migration_state::active, 0);
  return true;
}

void end_migration_epoch() noexcept { change_state(migration_state::inactive, 0); }

migration_state current_state() noexcept { return state_of(facts.global_word.load_acquire()); }

bool wait_for_open_scopes(patience limit) noexcept {
  return wait_until_all_carry(advance_epoch(), limit);
}

// The flag is raised before the epoch advances, so a scope that carries the new epoch (acquire, in
// scope::enter) sees it; one that does not is waited for. Its fall is a release that pairs with the
// acquire here: who sees it fallen sees every word as the moves left it.
bool moves_may_happen() noexcept { return moves.value.load_acquire(); }
moving_guard::moving_guard() noexcept { moves.value.store_release(true); }
moving_guard::~moving_guard() { moves.value.store_release(false); }

void forget_migration() noexcept {
  moves.value.store_release(false);
  change_state(migration_state::inactive, 0);
}

void set_count_release(count_release release) noexcept { release_count.store_release(release); }

void leave_tracking(thread_slot& slot) noexcept {
  slot.tracking = false;
  const std::lock_guard lock(slot.counted_lock);
  if (const count_release release = release_count.load_acquire()) slot.counted.drain(release);
}

noted note_counted(thread_slot& mine, void* guide_slot) noexcept try {
  const std::lock_guard lock(mine.counted_lock);
  return mine.counted.insert(guide_slot) ? noted::added : noted::known;
} catch (const std::bad_alloc&) {
  return noted::no_memory;
}

void forget_counted(thread_slot& mine, void* guide_slot) noexcept {
  const std::lock_guard lock(mine.counted_lock);
  mine.counted.erase(guide_slot);
}

// A thread that counted the guide had claimed its slot before, and the caller, which has the guide
// to itself, has seen the count: so it sees the thread's slot too.
void forget_counted(void* guide_slot) noexcept {
  slots.for_each([guide_slot](thread_slot& slot) { forget_counted(slot, guide_slot); });
}

}  // namespace isotherm::sync
