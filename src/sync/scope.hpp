// A scope brackets one public operation of a data structure: addresses obtained from guides and
// nodes reached through links stay valid until the outermost scope of the thread closes
// (OBASE 3.5, 4.2).
#pragma once

#include "sync/epoch.hpp"
#include "sync/slots.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::sync {

/// Frees up to twice as many ready blocks as this thread has retired since the last call, and sets
/// the rest aside; spends a tenth of the thread's time on blocks that were set aside. Takes a tenth
/// of a millisecond at most, and the block then in hand. Cold.
void maybe_reclaim(thread_slot& slot) noexcept;

/// RAII scope. Nests; only the outermost publishes. Cost outside of migration: a store, two loads
/// and a compare. Not to be kept across blocking calls: it delays the collector and reclamation,
/// never other threads. Stays on the thread that made it.
class scope {
 public:
  scope() noexcept : slot_(slot_of_this_thread()) { open(slot_); }
  ~scope() { close(slot_); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  /// True when the calling thread is inside a scope.
  static bool is_open() noexcept { return this_thread_slot && this_thread_slot->depth > 0; }

  /// True while this scope must count the guides that it dereferences.
  bool is_tracking() const noexcept { return slot_.tracking; }
  thread_slot& slot() const noexcept { return slot_; }

  /// The two halves of a scope, for code whose exits a compiler finds (isotherm/abi.h): each open()
  /// is followed by one close() on the same thread. `mine` is the calling thread's slot.
  static void open(thread_slot& mine) noexcept {
    if (mine.depth++ == 0) enter(mine);
  }
  static void close(thread_slot& mine) noexcept {
    if (--mine.depth == 0) leave(mine);
  }

 private:
  static void enter(thread_slot& mine) noexcept {
    std::uint64_t global = facts.global_word.load_acquire();
    for (;;) {
      pause_at(step::entering, &mine);
      std::uint64_t again;
      // Acquire: what was done before the epoch advanced (unlinking, clearing accessed bits) is
      // seen by a scope that carries the new epoch.
      if (facts.fence_is_asymmetric.load_relaxed()) {
        // Release: who reads this, not the zero before it, must see what this thread's scopes did
        // up to here too: a later store by the same thread is in no release sequence of leave()'s
        // (C++20, [intro.races]). Pairs with oldest_open_epoch(). The machine's store is the same.
        mine.entered.store_release(slot_value(global));
        base::compiler_barrier();  // pairs with os::membarrier() of the thread that changed it
        again = facts.global_word.load_acquire();
      } else {
        // Both sequentially consistent: an acquire load could still pass the exchange.
        mine.entered.exchange_seq_cst(slot_value(global));
        again = facts.global_word.load_seq_cst();
      }
      if (again == global) [[likely]]
        break;
      global = again;
    }
    mine.tracking = state_of(global) != migration_state::inactive;
  }

  static void leave(thread_slot& mine) noexcept {
    if (mine.tracking) [[unlikely]]
      leave_tracking(mine);
    // Release: all that this scope read and wrote happens before a thread finds the slot empty.
    mine.entered.store_release(0);
    if (mine.retired_weight >= kReclaimWeight) [[unlikely]]
      maybe_reclaim(mine);
  }

  thread_slot& slot_;
};

}  // namespace isotherm::sync
