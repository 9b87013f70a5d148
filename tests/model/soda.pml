/* Destroying and overwriting a guide beside the collector's visit (src/guide/{soda.cpp,guide.cpp}):
 * one slot in one granule. Its owner makes a guide there, lets a user at it, destroys it when no
 * scope can reach it, gives the memory back, and does so again. The collector visits what is due.
 *
 * The collector must touch no slot whose memory is gone; and when all is quiet, a live guide whose
 * object is warm must be due, or the collector would never see it again.
 *
 * Mutations (-D):
 *   NO_WAIT              destroying does not wait for the hazard
 *   BITS_BEFORE_HAZARD   the collector reads the bits before it publishes the hazard
 *   HAZARD_BUFFERED      the hazard is a plain store, which may be seen late
 *   NO_SECOND_CLEAR      destroying does not clear the due bit again after the wait
 *   DROP_WITHOUT_LOOK    the due bit is dropped without looking at the word afterwards
 *   REPORT_BEFORE_MARK   a dereference reports its object before it marks it
 *   NO_REPORT            a dereference of a COLD object is not reported
 *   OVERWRITE_UNREPORTED replacing an object does not make the slot due
 */
#define kPresent 1
#define kAccessed 2
#define kCold 4
#define kVacant 8 /* registered, but holds no object */
#define is_warm(w) (((w) & (kPresent | kAccessed)) == (kPresent | kAccessed) || \
                    ((w) & (kPresent | kCold)) == kPresent)
#ifndef kGuides
#define kGuides 2
#endif
#ifndef kVisits
#define kVisits 3
#endif
#ifndef kUses
#define kUses 2
#endif

bool there;      /* the memory of the slot belongs to a guide */
byte slot;       /* its word */
bool registered; /* its two bits */
bool due;
bool hazard;     /* the collector's hazard names the granule */
bool hazard_pending; /* -DHAZARD_BUFFERED: stored, not yet seen */

bool reachable;  /* scopes may find the guide */
bool user_inside;

/* unregister_slot(). */
inline unregister_slot() {
  due = false;
  registered = false;
#ifndef NO_WAIT
  if /* wait_for_visit(): the word changes, which ends a copy in flight */
  :: hazard ->
     d_step { slot = ((slot & kPresent) -> slot | kAccessed : slot) };
     !hazard
  :: else
  fi;
#endif
#ifndef NO_SECOND_CLEAR
  due = false
#else
  skip
#endif
}

/* register_slot() of a guide that no other thread has: its bit is clear. */
inline register_new_slot() {
  registered = true;
  due = true
}

/* register_slot(). */
inline register_slot() {
  if
  :: registered ->
     if
     :: !due -> due = true
     :: else
     fi
  :: else -> register_new_slot()
  fi
}

proctype owner() {
  byte guides;
  do
  :: guides < kGuides ->
     there = true;
     if
     :: slot = kPresent; /* guide::adopt() */
        register_new_slot()
     :: slot = kPresent | kCold; /* guide::take() of a COLD object's guide */
        register_new_slot()
     :: true /* an empty guide */
     fi;
     reachable = true;
     guides++;
     if
     :: guides < kGuides || kGuides == 1 ->
        reachable = false;
        !user_inside; /* retire(): the scopes that saw it close */
        /* guide::reset() */
        if
        :: slot != 0 -> unregister_slot()
        :: else
        fi;
        assert(!due && !registered);
        d_step { slot = 0; there = false }
     :: guides == kGuides -> break /* the last one may stay */
     fi
  :: else -> break
  od
}

/* guides::mark(): a read-modify-write, then report_cold_access() if that found a COLD object at rest.
 */
inline mark() {
#ifdef REPORT_BEFORE_MARK
  found = slot;
  report();
  slot = ((slot & kPresent) -> slot | kAccessed : slot);
#else
  d_step {
    found = slot;
    slot = ((slot & kPresent) -> slot | kAccessed : slot)
  }
  report();
#endif
  found = 0
}
inline report() {
#ifdef NO_REPORT
  skip
#else
  if
  :: (found & kPresent) && !(found & kAccessed) && (found & kCold) ->
     if
     :: !due -> due = true
     :: else
     fi
  :: else
  fi
#endif
}

proctype user() {
  byte found, uses;
  do
  :: uses < kUses ->
     uses++;
     user_inside = true;
     if
     :: reachable ->
        if
        :: mark()
        :: /* guide::replace() with an object: exchange(), then register_slot() */
           assert(there);
           slot = kPresent | kAccessed;
#ifndef OVERWRITE_UNREPORTED
           register_slot()
#endif
        :: /* with nothing */
           if
           :: slot != 0 -> slot = kVacant
           :: else
           fi
        fi
     :: else
     fi;
     user_inside = false
  :: else -> break
  od
}

/* drop_due(). */
inline drop_due() {
  due = false;
#ifndef DROP_WITHOUT_LOOK
  assert(there);
  seen = slot;
  if
  :: is_warm(seen) -> due = true
  :: else
  fi;
#endif
  seen = 0
}

/* ageing::age() and mover::visit(): clears the accessed bit, or moves the object to COLD, each by
 * one compare-and-swap. True when the object rests in COLD.
 */
inline visit() {
  assert(there);
  seen = slot;
  next = seen & (kPresent | kCold);
  if
  :: (seen & kPresent) && !(seen & kAccessed) -> next = kPresent | kCold
  :: true
  fi;
  assert(there);
  d_step {
    if
    :: slot == seen && (seen & kPresent) -> slot = next
    :: else -> next = 0
    fi;
    seen = 0
  }
  if
  :: next & kCold ->
     next = 0;
     drop_due()
  :: else -> next = 0
  fi
}

/* visit_granule(), visit_one(). */
proctype collector() {
  byte visits, seen, next;
  bool bits;
  do
  :: visits < kVisits ->
     visits++;
#ifdef BITS_BEFORE_HAZARD
     bits = due && registered;
#endif
#ifdef HAZARD_BUFFERED
     hazard_pending = true;
#else
     hazard = true;
#endif
#ifndef BITS_BEFORE_HAZARD
     bits = due;
     bits = bits && registered;
#endif
     if
     :: bits ->
        bits = false;
        visit()
     :: else
     fi;
     d_step { hazard = false; hazard_pending = false }
  :: else -> break
  od
}

#ifdef HAZARD_BUFFERED
proctype machine() {
end:
  do
  :: d_step { hazard_pending -> hazard = true; hazard_pending = false }
  od
}
#endif

init {
  atomic {
#ifdef HAZARD_BUFFERED
    run machine();
#endif
    run owner();
    run user();
    run collector()
  }
#ifndef HAZARD_BUFFERED
  _nr_pr == 1;
  assert(!due || registered);
  assert(!(there && is_warm(slot)) || (due && registered))
#endif
}
