/* The application's side, src/guide/{guide.hpp,guide.cpp}: one guide, and threads that read it, write
 * through it and replace its object. `kCounts`: with what only the counts protocol needs.
 */
byte slot;
bool replaced; /* object 1 was made: one replacement is enough */

/* guide::get(): a load; then guides::mark(), a read-modify-write (a compare-and-swap loop, hence one
 * atomic step). `holds` is the guide's membership in the scope's counted_set.
 */
inline dereference(address) {
  atomic {
    found = slot;
    if
    :: (needs_no_mark(found) && !tracking) || is_null(found) -> address = address_of(found)
    :: else -> must_mark = true
    fi
  }
  if
  :: atomic {
       must_mark ->
       must_mark = false;
#ifdef ADDRESS_FROM_LOAD
       address = address_of(found);
       found = slot;
#else
       found = slot;
       address = address_of(found);
#endif
       if
       :: is_null(found) -> skip
#ifdef kCounts
       :: !is_null(found) && tracking && !holds ->
          holds = true;
          slot = counted(found)
#endif
       :: else ->
#ifndef MARK_WITHOUT_WRITE
          slot = marked(found)
#else
          skip
#endif
       fi
     }
  :: atomic { else -> skip }
  fi;
  found = 0
}

#ifdef PEEK
/* guide::peek(). */
inline peek(address) {
  if
  :: tracking || moves -> dereference(address)
  :: else -> address = address_of(slot)
  fi
}
#endif

/* guide::replace(): exchange() and retire; with an object (once) or with nothing. */
inline replace() {
  atomic {
    if
    :: !replaced -> allocate(fresh)
    :: true -> skip
    fi;
    if
    :: fresh != 0 ->
       replaced = true;
       identity[fresh] = 1;
       content[fresh] = written[1]
    :: else
    fi
  }
  atomic {
    found = slot;
    slot = succeeded_by(found, (fresh != 0 -> fresh | kAccessed : 0));
    fresh = address_of(found);
    found = 0
  }
  retire(fresh)
}

#ifdef kCounts
/* uncount() of guide.cpp for the one member of the set (leave_tracking()). */
inline uncount() {
  d_step {
    slot = (holds -> uncounted(slot) : slot);
    holds = false
  }
}
#else
#define uncount() skip
#endif

inline close_scope() {
  d_step {
    scope_closed(1 << id);
    entered[id] = 0
  }
}

#ifndef kWriterScopes
#define kWriterScopes 1
#endif
#ifndef kReplacerScopes
#ifdef PEEK
#define kReplacerScopes 1
#else
#define kReplacerScopes 2
#endif
#endif

/* Uses the guide in scope after scope: one thread writes through it, the other replaces its object.
 * What a scope got it uses until it closes.
 */
proctype application(byte id) {
  byte seen, again, found, first, second, fresh, scopes;
  bool tracking, holds, must_mark;
  do
  :: scopes < (id == 0 -> kWriterScopes : kReplacerScopes) ->
     enter(id, tracking);
#ifdef PEEK
     if
     :: dereference(first)
     :: id == 0 -> peek(first)
     fi;
#else
     dereference(first);
#endif
     if
     :: id == 0 && first != 0 -> write_object(first)
     :: id == 1 -> replace()
     :: dereference(second)
     fi;
     atomic {
       if
       :: first != 0 -> read_object(first)
       :: else
       fi;
       if
       :: second != 0 -> read_object(second)
       :: else
       fi;
       first = 0;
       second = 0;
       scopes++
     }
     /* scope::leave() */
#ifdef LEAVE_BEFORE_UNCOUNT
     close_scope();
     uncount();
#else
     uncount();
     close_scope();
#endif
     tracking = false
  :: else -> break
  od
}

