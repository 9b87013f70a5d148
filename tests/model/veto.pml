/* The veto protocol (src/collector/protocol/veto.cpp): the accessed bit and a grace period. One guide,
 * two threads that read it, write through it and replace its object, and a collector that moves it.
 *
 * Variants (-D):
 *   PEEK                   the writer may peek instead of dereferencing
 * Smaller (-DSMALL): one window.
 * Mutations (-D):
 *   SKIP_GRACE             scopes that were open at the clearing of the bit are not waited for
 *   GRACE_BEFORE_CLEAR     a promotion's bit is cleared after the grace period
 *   MARK_WITHOUT_WRITE     a dereference that finds the bit clear does not set it
 *   MOVES_UNANNOUNCED      peek() is not told that moves may happen
 *   ANNOUNCED_LATE         peek() is told after the scopes were waited for
 *   IGNORE_ACCESSED        a set bit does not veto
 *   COMMIT_WITHOUT_COMPARE the commit stores instead of comparing
 *   FREE_BEFORE_COMMIT     the old memory is freed before the commit (pitfall 8)
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
#include "parts/application.pml"
#include "parts/move.pml"

mtype = { nowhere, promotion, demotion, compaction };

/* ageing::age() (scan/ageing.cpp): accessed objects are to be promoted, others may be demoted; COLD
 * compaction takes guides as they are.
 */
inline scan() {
  word = slot;
  d_step {
    if
    :: !is_null(word) && slot == word ->
       target = (is_accessed(word) -> promotion : demotion);
       slot = rested(word)
    :: else
    fi;
    word = 0
  }
  if
  :: true -> target = compaction
  :: true
  fi
}

/* clear_accessed::visit(): one attempt. */
inline clear_accessed() {
  if
  :: target == promotion ->
     word = slot;
     d_step {
       slot = ((slot == word && !is_null(word)) -> rested(word) : slot);
       word = 0
     }
  :: else
  fi
}

/* sync::wait_for_open_scopes(). */
inline wait_for_open_scopes() {
#ifdef SKIP_GRACE
  ok = true;
#else
  change_epoch(kInactive, epoch);
  wait_until_all_carry(epoch, ok);
  epoch = 0;
#endif
}

/* veto_protocol::move(). */
inline move() {
  word = slot;
  if
#ifdef IGNORE_ACCESSED
  :: is_null(word) -> skip
#else
  :: is_null(word) || is_accessed(word) -> skip
#endif
  :: else -> copy_and_commit()
  fi;
  word = 0
}

proctype collector() {
  byte i, epoch, word, from, to, windows;
  mtype target = nowhere;
  bool ok;
  do
  :: windows < kWindows ->
     windows++;
     scan();
#if !defined(MOVES_UNANNOUNCED) && !defined(ANNOUNCED_LATE)
     announce(true);
#endif
     /* veto_protocol::begin() */
#ifdef GRACE_BEFORE_CLEAR
     wait_for_open_scopes();
     clear_accessed();
#else
     clear_accessed();
     wait_for_open_scopes();
#endif
#ifdef ANNOUNCED_LATE
     announce(true);
#endif
     if
     :: ok && target != nowhere ->
        d_step { scope_opened(kCollector) };
        move();
        scope_closed(kCollector)
     :: else
     fi;
     d_step { ok = false; target = nowhere };
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
