/* The counts protocol (src/collector/protocol/counts.cpp, src/guide/guide.cpp): one guide, two
 * threads that read it, write through it and replace its object, and a collector that moves it.
 *
 * Variants (-D):
 *   PEEK                   the writer may peek instead of dereferencing
 * Smaller (-DSMALL): one window.
 * Mutations (-D): each leaves out one step, and spin must find what goes wrong.
 *   ADDRESS_FROM_LOAD      the address comes from the load before the read-modify-write (pitfall 1)
 *   COUNT_KEEPS_LOCK       a dereference leaves the lock bit (pitfall 2)
 *   COUNT_WRAPS            the count wraps at its ceiling (pitfall 3)
 *   EXCHANGE_DROPS_COUNTS  a replaced object's counts do not stay in the word
 *   FREE_BEFORE_COMMIT     the old memory is freed before the commit (pitfall 8)
 *   COMMIT_WITHOUT_COMPARE the commit stores instead of comparing
 *   SKIP_PREPARE           scopes that do not count are not waited for
 * Mutations that one window does not show (-D):
 *   LEAVE_BEFORE_UNCOUNT   the slot is emptied before the counts are taken back
 *   RESET_WITHOUT_WAIT     the scan clears counts although scopes that count are open
 */
#define kThreads 2
#ifdef SMALL
#define kWindows 1
#else
#define kWindows 2
#endif
#define kCollector 4 /* bit of the collector's own scope */

#include "parts/word.pml"
#include "parts/memory.pml"
#include "parts/epochs.pml"

#define kCounts
#include "parts/application.pml"
#include "parts/move.pml"

/* run_window()'s wait, and ageing::age() (scan/ageing.cpp). */
inline scan() {
  change_epoch(kInactive, epoch);
  wait_until_all_carry(epoch, ok);
#ifdef RESET_WITHOUT_WAIT
  ok = true;
#endif
  atomic {
    word = slot;
    next = (ok -> without_counts(rested(word)) : rested(word))
  }
  d_step {
    /* One attempt (pitfall 6). */
    slot = ((slot == word && !is_null(word)) -> next : slot);
    word = 0;
    next = 0
  }
}

/* counts_protocol::move(). */
inline move() {
  word = slot;
  if
  :: is_null(word) || count_of(word) != 0 || is_locked(word) -> skip
  :: else ->
     d_step {
       ok = (slot == word);
       slot = (ok -> locked(word) : slot);
       word = locked(word)
     }
     if
     :: ok ->
        copy_and_commit();
        if
        :: !ok -> d_step { slot = unlocked(slot) }
        :: else
        fi
     :: else
     fi
  fi;
  word = 0
}

/* Windows: scan in INACTIVE, then one migration epoch. */
proctype collector() {
  byte i, epoch, word, next, from, to, windows;
  bool ok;
  do
  :: windows < kWindows ->
     windows++;
     scan();
     announce(true);
     change_epoch(kPrepare, epoch); /* begin_migration_epoch() */
     wait_until_all_carry(epoch, ok);
#ifdef SKIP_PREPARE
     ok = true;
#endif
     epoch = 0;
     if
     :: ok ->
        change_state(kActive);
        d_step { scope_opened(kCollector) };
        move();
        scope_closed(kCollector)
     :: else
     fi;
     ok = false;
     change_state(kInactive);
     announce(false)
  :: else -> break
  od
}

init {
  atomic {
    memory[1] = live;
    slot = 1;
    run application(0);
    run application(1);
    run collector()
  }
}
