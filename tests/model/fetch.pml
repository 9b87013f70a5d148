/* Objects of COLD that have left DRAM, read and put into HOT (src/guide/fetched.*, src/heap/cold/,
 * src/heap/packed/extent.hpp), under the veto protocol. Two readers: each reads the object at once,
 * or notes what it misses and closes its scope, has it read, and looks the guide up again. A writer replaces the object or empties the guide. A collector moves
 * what the guide holds, and to the noted address as soon as that is free: only that its extent is
 * pinned keeps it from meaning another object.
 *
 * A visit of the collector and the leaving of a slot exclude each other: soda.pml. That what is
 * retired, objects and the old node, outlives the scopes of its time: retire.pml.
 *
 * Variants (-D):
 *   RELOCATED              the guide's node is replaced by a copy of itself first (relocation.pml);
 *                          only one reader fetches
 * Smaller (-DSMALL): one reader.
 * Mutations (-D):
 *   NO_PIN                 the extent is not pinned
 *   PIN_UNMARKED           it is pinned without a mark that holds the object until then
 *   PIN_OUTSIDE_SCOPE      it is pinned when the scope that found the object has closed
 *   UNPIN_EARLY            it is pinned for the read alone, not until the commit
 *   LOOKS_AFTERWARDS       who unpins the extent looks in a step of its own whether it is empty
 *   COMMIT_UNCONDITIONAL   the commit stores instead of comparing
 *   COMMIT_RESTED          the copy's word is not accessed
 *   FREED_AT_ONCE          the old object is freed at the commit instead of retired
 *   WRITES_IN_PLACE        a writer writes to the object where it lies, in COLD
 *   NODE_KEPT              the reader uses the slot that it found before the read
 *   NOT_LEFT               the old slot of a relocated guide keeps its word
 *   LEFT_BY_STORE          the old slot is stored to after the new slot's word was loaded from it
 *   LEFT_IGNORED           a commit succeeds in a slot that was left
 */
#if defined(NODE_KEPT) || defined(NOT_LEFT) || defined(LEFT_BY_STORE) || defined(LEFT_IGNORED)
#define RELOCATED
#endif
#define kThreads 2
#define kWindows 1
#define kCollector 4 /* bit of the collector's own scope */
#define kWriter 8    /* bit of the writer's */
#ifdef RELOCATED
#define kFetchers 1
#else
#define kFetchers 2
#endif
#ifdef SMALL
#define kReaders 1
#else
#define kReaders 2
#endif

#include "parts/word.pml"
#include "parts/epochs.pml"

/* Address 1 lies in COLD, its extent was written (log_write.pml), is closed, and holds no other
 * object. Addresses 2 and 3 lie in HOT.
 */
#define kCold 1
#define is_cold(w) (address_of(w) == kCold)

/* In the word, the heap NODE: the object has another slot. */
#define kLeft 64
#define has_left(w) (((w) & kLeft) != 0)
#define left(w) (is_null(w) -> (w) : (w) | kLeft)
#define marked_there(w) (marked(w) | ((w) & kLeft))

/* Allocating and freeing have to do with the extent, below. */
#define allocate allocate_anywhere
#define deallocate free_memory
#include "parts/memory.pml"
#undef allocate
#undef deallocate

/* The extent's word: who pins it; what is live in it is memory[kCold]. */
byte pins;
bool given_back; /* its address may be used anew */
hidden byte was_live;

/* cold_extents::give_back(), by the one whose step has left nothing. */
inline give_back() {
  assert(!given_back);
  given_back = true
}

inline give_back_if_freed() {
  if
  :: was_live && memory[kCold] == nothing && pins == 0 -> give_back()
  :: else
  fi
}

/* heap::deallocate(), packed_heap::free_units(). */
inline deallocate(where) {
  d_step {
    was_live = memory[kCold] != nothing;
    free_memory(where);
    give_back_if_freed()
  }
}

/* A scope closes, and what was retired is freed if it waited for that. */
inline close_and_free(mask) {
  d_step {
    was_live = memory[kCold] != nothing;
    scope_closed(mask);
    give_back_if_freed()
  }
}

/* cold_extents::pin_extent(). */
inline pin() {
#ifdef NO_PIN
  skip
#else
  d_step {
    assert(!given_back);
    pins++
  }
#endif
}

/* cold_extents::unpin_extent(). */
inline unpin() {
#ifdef NO_PIN
  skip
#else
#ifdef LOOKS_AFTERWARDS
  pins--;
#endif
  d_step {
#ifndef LOOKS_AFTERWARDS
    pins--;
#endif
    if
    :: memory[kCold] == nothing && pins == 0 -> give_back()
    :: else
    fi
  }
#endif
}

inline allocate_in_hot(result) {
  d_step {
    result = (memory[2] == nothing -> 2 : (memory[3] == nothing -> 3 : 0));
    memory[result] = (result != 0 -> live : nothing)
  }
}

/* For the collector: it demotes where it can, else it promotes. */
inline allocate(result) {
  d_step {
    if
    :: given_back ->
       given_back = false;
       result = kCold;
       memory[kCold] = live
    :: else -> allocate_in_hot(result)
    fi
  }
}

byte slots[2];
bool registered[2];
byte linked;       /* the node that readers find */
byte may_read_old; /* bit mask: scopes that the old node is kept for */
byte hazard;       /* slot + 1 in the collector's hands */
byte put;          /* the object that the writer has put in the guide last */

/* The node is there, and the object; in the node that is linked it is the last one put there. */
inline check_found() {
  assert(at == linked || (may_read_old & (1 << id)) != 0);
  assert(is_null(found) || memory[address_of(found)] != nothing);
  assert(is_null(found) || at != linked || identity[address_of(found)] == put)
}

/* guide::get() and guides::mark(), which returns the word that it found. */
inline dereference() {
  atomic {
    found = slots[at];
    check_found()
  }
  if
  :: atomic {
       !needs_no_mark(found) && !is_null(found) ->
       found = slots[at];
       check_found();
       slots[at] = (is_null(found) -> found : marked_there(found))
     }
  :: else
  fi
}

#ifdef COMMIT_UNCONDITIONAL
#define COMMITS true
#else
#define COMMITS (slots[at] == found)
#endif
#ifdef COMMIT_RESTED
#define fetched_word made
#else
#define fetched_word marked(moved_to(found, made))
#endif
#ifdef LEFT_IGNORED
#define may_commit_on(w) is_cold(w)
#else
#define may_commit_on(w) (is_cold(w) && !has_left(w))
#endif

/* guides::commit_fetched(): each attempt is for the word that the one before has found. */
inline commit_fetched() {
  atomic {
    allocate_in_hot(made);
    if
    :: made != 0 ->
       identity[made] = copied_identity;
       content[made] = copied_content
    :: else /* full */
    fi
  }
  do
  :: atomic {
       made != 0 && may_commit_on(found) ->
       if
       :: COMMITS ->
          slots[at] = fetched_word;
          old = kCold;
          made = 0
       :: else
       fi;
       found = slots[at];
       check_found()
     }
  :: atomic { made == 0 || !may_commit_on(found) -> break }
  od;
  if
#ifdef FREED_AT_ONCE
  :: old != 0 -> deallocate(old)
#else
  :: old != 0 -> retire(old)
#endif
  :: made != 0 -> deallocate(made)
  :: else
  fi
}

/* The copy itself is used, and not put into HOT (access::copies::allowed). */
inline use_copy() {
  d_step {
    assert(memory[kCold] != nothing && identity[kCold] == copied_identity);
    assert(copied_content == written[copied_identity])
  }
}

/* scope::enter(), in one step: scope_entry.pml. */
inline open_scope() {
  d_step {
    entered[id] = epoch_of(global_word) + 1;
    scope_opened(1 << id)
  }
}

inline close_scope() {
  d_step {
    close_and_free(1 << id);
    entered[id] = 0;
    may_read_old = may_read_old & open_scopes;
#ifndef NODE_KEPT
    at = 0;
#endif
    found = 0
  }
}

proctype reader(byte id) {
  byte found, at, made, old, copied_identity;
  bit copied_content;
  bool noted;
  open_scope();
  at = linked;
#ifdef PIN_UNMARKED
  atomic { found = slots[at]; check_found() }
#else
  dereference();
#endif
  if
  :: is_cold(found) && id < kFetchers -> /* access::record() */
     noted = true;
#ifndef PIN_OUTSIDE_SCOPE
     pin()
#endif
  :: is_null(found)
#ifdef PIN_UNMARKED
  :: !is_null(found) && !is_cold(found)
#else
  :: !is_null(found) -> read_object(address_of(found)) /* one in COLD: read at once */
#endif
  fi;
  close_scope();
  if
  :: noted ->
#ifdef PIN_OUTSIDE_SCOPE
     pin();
#endif
     d_step { /* the read: cold_reader */
       copied_identity = identity[kCold];
       copied_content = content[kCold]
     }
#ifdef UNPIN_EARLY
     unpin();
#endif
     open_scope();
#ifndef NODE_KEPT
     at = linked;
#endif
     dereference();
     /* reach_in_cold() */
     if
     :: may_commit_on(found) -> commit_fetched()
     :: is_cold(found) -> use_copy()
     :: !is_cold(found)
     fi;
#ifndef UNPIN_EARLY
     unpin();
#endif
     if
     :: !is_null(found) -> read_object(address_of(found))
     :: else
     fi;
     close_scope()
  :: else
  fi
}

/* guide::replace() or clear(): exchange() and retire. */
inline replace() {
  atomic {
    scope_opened(kWriter);
    if
    :: allocate_in_hot(fresh)
    :: true
    fi;
    if
    :: fresh != 0 ->
       identity[fresh] = 1;
       content[fresh] = written[1]
    :: else
    fi;
    old = address_of(slots[linked]);
    slots[linked] = (fresh != 0 -> fresh | kAccessed : 0);
    put = 1;
    fresh = 0
  }
  retire(old);
  close_and_free(kWriter)
}

#ifdef RELOCATED
/* guides::leave_to_relocated(); the copy is linked in the node's place; finish_relocation(). */
inline relocate() {
  atomic {
    registered[0] = false;
    hazard != 1 /* wait_for_visit() */
  }
#ifdef LEFT_BY_STORE
  slots[1] = (is_null(slots[0]) -> slots[0] : locked(slots[0]));
  slots[0] = left(unlocked(slots[1]));
#else
  d_step { /* one read-modify-write: nobody knows the new slot yet */
    slots[1] = (is_null(slots[0]) -> slots[0] : locked(slots[0]));
#ifndef NOT_LEFT
    slots[0] = left(slots[0])
#endif
  }
#endif
  d_step {
    linked = 1;
    may_read_old = open_scopes & 3 /* the readers': it is retired */
  }
  registered[1] = true
}
#endif

proctype writer() {
  byte old, fresh;
  bool has_replaced;
#ifdef WRITES_IN_PLACE
  bool has_written;
#endif
  do
#ifdef RELOCATED
  :: linked == 0 -> relocate()
  :: linked != 0 && !has_replaced ->
#else
  :: !has_replaced ->
#endif
     has_replaced = true;
     replace()
#ifdef WRITES_IN_PLACE
  :: d_step { /* a whole scope */
       !has_written && is_cold(slots[linked]) ->
       has_written = true;
       slots[linked] = marked(slots[linked]);
       write_object(kCold)
     }
#endif
  :: true -> break
  od
}

#define slot slots[at]
#include "parts/move.pml"

inline visit_begins() {
  d_step {
    hazard = at + 1;
    ok = registered[at]
  }
}
inline visit_ends() {
  d_step {
    hazard = 0;
    ok = false
  }
}

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
  visit_ends()
}

/* sync::wait_for_open_scopes(), which may give up. Whoever carries the epoch goes on doing so: to
 * look at all of them at once is no more than to look at one after the other.
 */
#define carries(thread) (entered[thread] == 0 || entered[thread] - 1 >= epoch)
inline wait_for_open_scopes() {
  change_epoch(kInactive, epoch);
  d_step {
    begun = carries(0) && carries(1);
    epoch = 0
  }
}

/* veto_protocol::move(). */
inline move() {
  word = slot;
  if
  :: is_null(word) || is_accessed(word) || is_locked(word) -> skip
  :: else -> copy_and_commit()
  fi;
  word = 0
}

proctype collector() {
  byte epoch, word, from, to, windows, at;
  bool ok, begun;
  do
  :: windows < kWindows ->
     windows++;
#ifdef RELOCATED
     if
     :: at = 0
     :: at = 1
     fi;
#endif
     scan();
     wait_for_open_scopes(); /* begin() */
     if
     :: begun ->
        scope_opened(kCollector);
        visit_begins();
        if
        :: ok -> move()
        :: else
        fi;
        visit_ends();
        close_and_free(kCollector)
     :: else
     fi;
     begun = false
  :: else -> break
  od
}

init {
  atomic {
    memory[kCold] = live;
    slots[0] = kCold;
    registered[0] = true;
    run reader(0);
#if kReaders > 1
    run reader(1);
#endif
    run writer();
    run collector()
  }
}
