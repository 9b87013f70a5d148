/* Guides that move from slot to slot (guide::take() of src/guide/guide.hpp, vacate() of guide.cpp)
 * while scopes use what they got from them, and a collector moves objects: two slots, whose guides a
 * writer swaps under an exclusive lock, as std::swap does, through a third; two readers that take
 * the lock, shared, for the dereference alone. The counts protocol, or with VETO the other one.
 *
 * A visit of the collector and the destruction of a guide exclude each other: soda.pml.
 *
 * Variants (-D):
 *   VETO                   the veto protocol
 * Smaller (-DSMALL): one window, before which nothing is scanned.
 * Mutations (-D):
 *   NOT_PINNED             the object of a counted guide is not pinned in its new slot
 *   NOT_FORGOTTEN          scopes that counted the old slot take their counts back from it
 *   VETO_BIT_DROPPED       the accessed bit does not move with the guide (veto)
 * Mutations that one window does not show (-D):
 *   RESET_WITHOUT_WAIT     the scan clears counts although scopes that count are open
 */
#define kThreads 2
#ifdef SMALL
#define kWindows 1
#else
#define kWindows 2
#endif
#define kCollector 4 /* bit of the collector's own scope */
#define kSlots 3     /* the last one is the swap's */

#ifdef VETO_BIT_DROPPED
#define VETO
#endif

#include "parts/word.pml"
#include "parts/memory.pml"
#include "parts/epochs.pml"

byte slots[kSlots];
bool registered[kSlots];
byte hazard;     /* slot + 1 in the collector's hands */
byte readers;    /* of the lock */
bool exclusive;
bool holds[4];   /* thread * 2 + slot: the slot is in the thread's counted_set */

/* pinned(), carried() of word.hpp. */
#define pinned(w) (without_counts(w) | (kCountCeiling << 2))
#ifdef VETO_BIT_DROPPED
#define carried(w) rested(unlocked(w))
#else
#ifdef NOT_PINNED
#define carried(w) without_counts(unlocked(w))
#else
#define carried(w) (count_of(w) == 0 -> unlocked(w) : pinned(unlocked(w)))
#endif
#endif

/* guide::get() and guides::mark(), as in application.pml. */
inline dereference(x) {
  atomic {
    found = slots[x];
    must_mark = !((needs_no_mark(found) && !tracking) || is_null(found));
    address = (must_mark -> 0 : address_of(found))
  }
  if
  :: atomic {
       must_mark ->
       found = slots[x];
       address = address_of(found);
#ifndef VETO
       if
       :: tracking && !holds[id * 2 + x] ->
          holds[id * 2 + x] = true;
          slots[x] = counted(found)
       :: else -> slots[x] = marked(found)
       fi;
#else
       slots[x] = marked(found);
#endif
       must_mark = false
     }
  :: atomic { else -> skip }
  fi;
  found = 0
}

/* leave_tracking(): each count is taken back under the set's lock. */
inline uncount(x) {
  d_step {
    slots[x] = (holds[id * 2 + x] -> uncounted(slots[x]) : slots[x]);
    holds[id * 2 + x] = false
  }
}

proctype reader(byte id) {
  byte seen, again, found, address, x;
  bool tracking, must_mark;
  enter(id, tracking);
  atomic {
    !exclusive -> readers++;
    if
    :: x = 0
    :: x = 1
    fi
  }
  dereference(x);
  readers--;
  read_object(address);
#ifndef VETO
  uncount(x);
#endif
  d_step {
    scope_closed(1 << id);
    entered[id] = 0
  }
}

/* take(). */
inline take(from, to) {
  atomic {
    registered[from] = false;
    hazard != from + 1 /* wait_for_visit() */
  }
  d_step { /* the exchange */
    word = slots[from];
    slots[from] = 0
  }
#if !defined(NOT_FORGOTTEN) && !defined(VETO)
  d_step {
    if
    :: count_of(word) != 0 && from < 2 ->
       holds[from] = false;
       holds[2 + from] = false
    :: else
    fi
  }
#endif
  d_step { /* before it is registered nobody sees it */
    slots[to] = carried(word);
    word = 0;
    registered[to] = true
  }
}

proctype writer() {
  byte word;
  atomic { readers == 0 && !exclusive -> exclusive = true }
  take(0, 2);
  take(1, 0);
  take(2, 1);
  exclusive = false
}

#define slot slots[at]
#include "parts/move.pml"

/* The collector's choice of a guide; it visits what is registered, under its hazard. That of the
 * swap's own guide is left out: no scope gets anything from it.
 */
inline choose() {
  if
  :: at = 0
  :: at = 1
  fi
}

inline visit_begins() {
  hazard = at + 1;
  ok = registered[at]
}
inline visit_ends() { hazard = 0 }

/* ageing::age(): accessed bits are cleared, and counts that stayed behind. */
inline scan() {
  change_epoch(kInactive, epoch);
  wait_until_all_carry(epoch, may_reset);
#ifdef RESET_WITHOUT_WAIT
  may_reset = true;
#endif
  epoch = 0;
  visit_begins();
  if
  :: ok ->
     word = slot;
     d_step {
       slot = ((slot == word && !is_null(word))
               -> (may_reset -> without_counts(rested(word)) : rested(word)) : slot);
       word = 0
     }
  :: else
  fi;
  d_step { ok = false; may_reset = false };
  visit_ends()
}

/* move() of the protocol. */
inline move() {
  word = slot;
  if
#ifdef VETO
  :: is_null(word) || is_accessed(word) -> skip
  :: else -> copy_and_commit()
#else
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
#endif
  fi;
  word = 0
}

proctype collector() {
  byte i, epoch, word, from, to, windows, at;
  bool ok, may_reset, begun;
  do
  :: windows < kWindows ->
     windows++;
     choose();
#if kWindows > 1
     if
     :: windows > 1 -> scan()
     :: else /* nothing was used before the first */
     fi;
#endif
#ifdef VETO
     /* begin(): clear_accessed of a promotion was the scan's clearing here; the grace period. */
     change_epoch(kInactive, epoch);
     wait_until_all_carry(epoch, begun);
#else
     change_epoch(kPrepare, epoch);
     wait_until_all_carry(epoch, begun);
#endif
     epoch = 0;
     if
     :: begun ->
#ifndef VETO
        change_state(kActive);
#endif
        d_step { scope_opened(kCollector) };
        visit_begins();
        if
        :: ok -> move()
        :: else
        fi;
        ok = false;
        visit_ends();
        scope_closed(kCollector)
     :: else
     fi;
     begun = false;
#ifndef VETO
     change_state(kInactive)
#endif
  :: else -> break
  od
}

init {
  atomic {
    memory[1] = live;
    memory[2] = live;
    identity[2] = 1;
    slots[0] = 1;
    slots[1] = 2;
    registered[0] = true;
    registered[1] = true;
    run reader(0);
    run reader(1);
    run writer();
    run collector()
  }
}
