/* A node that is replaced by a copy of itself, with its guide (the constructor of guide for
 * relocation, finish_relocation(); leave_to_relocated() of src/guide/guide.cpp), under the veto
 * protocol: readers find the node without a lock and may go on reading the old one, whose guide keeps
 * its word; a collector moves the object by way of whatever slot it knows.
 *
 * A visit of the collector and the leaving of a slot exclude each other: soda.pml. That the old node's
 * memory outlives its readers is retire()'s contract: retire.pml.
 *
 * Variants (-D):
 *   REPLACED               the writer then replaces the object in the new node
 * Smaller (-DSMALL): one window.
 * Mutations (-D):
 *   STAYS_REGISTERED       the collector still knows the old slot
 *   REGISTERED_EARLY       the collector knows the new slot before the old node is unlinked
 *   NOT_LOCKED             a batch whose grace period is over may move by way of the new slot
 *   LOCK_IGNORED           a set lock does not veto
 */
#define VETO
#define kThreads 2
#ifdef SMALL
#define kWindows 1
#else
#define kWindows 2
#endif
#define kCollector 4 /* bit of the collector's own scope */
#define kWriter 8    /* bit of the writer's */

#include "parts/word.pml"
#include "parts/memory.pml"
#include "parts/epochs.pml"

byte slots[2];
bool registered[2];
byte linked; /* the node that readers find */
byte hazard; /* slot + 1 in the collector's hands */

/* guide::get() and guides::mark(). */
inline dereference(x) {
  atomic {
    found = slots[x];
    must_mark = !(needs_no_mark(found) || is_null(found));
    address = (must_mark -> 0 : address_of(found))
  }
  if
  :: atomic {
       must_mark ->
       found = slots[x];
       address = address_of(found);
       slots[x] = marked(found);
       must_mark = false
     }
  :: atomic { else -> skip }
  fi;
  found = 0
}

proctype reader(byte id) {
  byte seen, again, found, address, x;
  bool tracking, must_mark;
  enter(id, tracking);
  x = linked;
  dereference(x);
  read_object(address);
  d_step {
    scope_closed(1 << id);
    entered[id] = 0
  }
}

proctype writer() {
  byte old, made;
#ifndef STAYS_REGISTERED
  atomic {
    registered[0] = false;
    hazard != 1 /* wait_for_visit() */
  }
#endif
#ifdef NOT_LOCKED
  slots[1] = slots[0];
#else
  slots[1] = locked(slots[0]);
#endif
#ifdef REGISTERED_EARLY
  registered[1] = true;
#endif
  linked = 1;
  registered[1] = true
#ifdef REPLACED
  ;
  d_step { scope_opened(kWriter) };
  allocate(made);
  if
  :: made != 0 ->
     d_step {
       old = address_of(slots[1]);
       identity[made] = 1;
       content[made] = written[1];
       slots[1] = marked(made);
       made = 0
     };
     retire(old)
  :: else
  fi;
  scope_closed(kWriter)
#endif
}

#define slot slots[at]
#include "parts/move.pml"

inline visit_begins() {
  hazard = at + 1;
  ok = registered[at]
}
inline visit_ends() { hazard = 0 }

/* ageing::age(): clears accessed bits and locks. */
inline scan() {
  visit_begins();
  if
  :: ok ->
     word = slot;
     d_step {
       slot = ((slot == word && !is_null(word)) -> rested(unlocked(word)) : slot);
       word = 0
     }
  :: else
  fi;
  ok = false;
  visit_ends()
}

/* move() of the protocol. */
inline move() {
  word = slot;
  if
#ifdef LOCK_IGNORED
  :: is_null(word) || is_accessed(word) -> skip
#else
  :: is_null(word) || is_accessed(word) || is_locked(word) -> skip
#endif
  :: else -> copy_and_commit()
  fi;
  word = 0
}

proctype collector() {
  byte i, epoch, word, from, to, windows, at;
  bool ok, begun;
  do
  :: windows < kWindows ->
     windows++;
     if
     :: at = 0
     :: at = 1
     fi;
     scan();
     /* begin(): the grace period. */
     change_epoch(kInactive, epoch);
     wait_until_all_carry(epoch, begun);
     epoch = 0;
     if
     :: begun ->
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
     begun = false
  :: else -> break
  od
}

init {
  atomic {
    memory[1] = live;
    slots[0] = 1;
    registered[0] = true;
    run reader(0);
    run reader(1);
    run writer();
    run collector()
  }
}
